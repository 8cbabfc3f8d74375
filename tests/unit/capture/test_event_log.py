"""Events are stored before they are published."""

import pytest

from termvisor.errors import VisorError


async def test_a_published_event_can_be_read_by_id(capture_store):
    pane = await capture_store.add_pane()
    with capture_store.event_log.events.subscribe() as listener:
        await capture_store.event_log.emit("pane_appeared", pane, command="sh", session="work")
        told = await listener.get()
    assert [told] == await capture_store.store.events.list()
    assert (told.kind, told.pane, told.data) == ("pane_appeared", pane, {"command": "sh", "session": "work"})
    assert told.at > 0


async def test_events_are_published_in_the_order_of_their_ids(capture_store):
    with capture_store.event_log.events.subscribe() as listener:
        for number in range(5):
            await capture_store.event_log.emit("alert", what=f"number {number}")
        told = listener.drain()
    assert told == await capture_store.store.events.list(limit=10)


async def test_an_event_that_cannot_be_stored_is_not_published(capture_store):
    with capture_store.event_log.events.subscribe() as listener:
        await capture_store.store.close()
        with pytest.raises(VisorError):
            await capture_store.event_log.emit("alert", what="nobody keeps this")
        assert listener.drain() == []


async def test_an_alert_emits_one_event_when_raised_and_one_when_cleared(capture_store):
    chronicle = capture_store.event_log
    await chronicle.raise_alert("recorder", "it keeps ending")
    await chronicle.raise_alert("recorder", "it still keeps ending")
    assert chronicle.alerts == {"recorder": "it still keeps ending"}
    await chronicle.clear_alert("recorder")
    await chronicle.clear_alert("recorder")
    assert chronicle.alerts == {}
    assert await capture_store.list_event_kinds() == ["alert", "alert_cleared"]
