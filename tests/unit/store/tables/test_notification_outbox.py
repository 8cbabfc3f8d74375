"""Pending notifications stay on disk until they are finished."""

from termvisor.clock import SystemClock
from termvisor.model.action.action import Notify
from termvisor.model.action.notification import PendingNotification
from termvisor.model.ids import EventId
from termvisor.store import Store


def build_pending_notification(number: int) -> PendingNotification:
    return PendingNotification(
        key=f"event.{number}.webhook.x", at=number, action=Notify(title=f"n{number}", text="", way="webhook")
    )


async def test_pending_notifications_survive_a_restart(tmp_path):
    path = str(tmp_path / "visor.db")
    store = await Store.open(path, SystemClock())
    assert await store.notification_outbox.read_cursor() is None
    await store.notification_outbox.add_pending(
        EventId(7), [build_pending_notification(6), build_pending_notification(7)]
    )
    first, second = await store.notification_outbox.list_pending()
    await store.notification_outbox.record_attempt(first)
    await store.notification_outbox.record_attempt(second)
    await store.notification_outbox.finish([second])
    await store.close()
    store = await Store.open(path, SystemClock())
    (left,) = await store.notification_outbox.list_pending()
    assert (left.key, left.at, left.action, left.tries) == (first.key, 6, first.action, 1)
    assert await store.notification_outbox.read_cursor() == 7
    await store.close()


async def test_several_notifications_are_replaced_by_one(store):
    await store.notification_outbox.add_pending(
        EventId(2), [build_pending_notification(1), build_pending_notification(2)]
    )
    await store.notification_outbox.finish(
        await store.notification_outbox.list_pending(), [build_pending_notification(3)]
    )
    assert [one.action.title for one in await store.notification_outbox.list_pending()] == ["n3"]


async def test_clear_deletes_notifications_and_cursor(store):
    await store.notification_outbox.add_pending(EventId(2), [build_pending_notification(1)])
    await store.notification_outbox.clear()
    assert (await store.notification_outbox.read_cursor(), await store.notification_outbox.list_pending()) == (None, [])
