"""Suppression of notifications."""

from msgspec.structs import replace

from termvisor.actions.notifications.notifier import NotificationThrottle
from termvisor.model.action.action import Notify
from termvisor.model.ids import PaneId
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.testing.fake_clock import FakeClock

BUILD = Notify(title="build", text="done")
SETTINGS = NotificationSettings(notify_window=60, notify_rate=3)


def send_all(throttle: NotificationThrottle, *actions: Notify) -> list[str]:
    """Send each notification at once unless the throttle suppresses it; return the reasons."""
    return [send(throttle, action) for action in actions]


def send(throttle: NotificationThrottle, action: Notify, settings: NotificationSettings = SETTINGS) -> str:
    why = throttle.check_and_reserve(action, settings)
    if not why:
        throttle.finish(action, is_sent=True, count=0)
    return why


async def test_a_repetition_is_sent_only_after_the_window():
    clock = FakeClock()
    throttle = NotificationThrottle(clock)
    assert send_all(throttle, BUILD, BUILD) == ["", "repeated"]
    await clock.advance(59)
    assert send_all(throttle, BUILD) == ["repeated"]
    await clock.advance(2)
    assert send_all(throttle, BUILD) == [""]


async def test_another_pane_title_text_or_channel_is_not_a_repetition():
    others = [
        replace(BUILD, pane=PaneId(2)),
        replace(BUILD, title="test"),
        replace(BUILD, way="desktop"),
    ]
    assert send_all(NotificationThrottle(FakeClock()), BUILD, *others) == ["", "", "", ""]


async def test_too_many_are_suppressed_per_channel_and_counted_once():
    clock = FakeClock()
    throttle = NotificationThrottle(clock)
    many = [replace(BUILD, text=str(number)) for number in range(5)]
    assert send_all(throttle, *many) == ["", "", "", "too_many", "too_many"]
    assert send_all(throttle, replace(BUILD, way="desktop")) == [""]
    await clock.advance(60)
    assert send_all(throttle, many[4]) == [""]
    assert [
        throttle.take_suppressed_count("terminal"),
        throttle.take_suppressed_count("terminal"),
        throttle.take_suppressed_count("desktop"),
    ] == [2, 0, 0]


async def test_a_failed_notification_may_be_repeated_and_keeps_its_count():
    throttle = NotificationThrottle(FakeClock())
    assert throttle.check_and_reserve(BUILD, SETTINGS) == ""
    assert throttle.check_and_reserve(BUILD, SETTINGS) == "repeated"
    throttle.finish(BUILD, is_sent=False, count=throttle.take_suppressed_count("terminal"))
    assert send_all(throttle, BUILD) == [""]
    assert throttle.take_suppressed_count("terminal") == 1


async def test_the_memory_for_repetitions_is_bounded():
    throttle = NotificationThrottle(FakeClock())
    high_rate = replace(SETTINGS, notify_rate=5000)
    for number in range(1500):
        assert send(throttle, replace(BUILD, text=str(number)), high_rate) == ""
    assert len(throttle._sent_at) <= 1001
    assert throttle.check_and_reserve(replace(BUILD, text="1499"), high_rate) == "repeated"


async def test_notifications_in_flight_are_limited():
    throttle, high_rate = NotificationThrottle(FakeClock()), replace(SETTINGS, notify_rate=100)
    many = [replace(BUILD, text=str(number)) for number in range(9)]
    assert [throttle.check_and_reserve(action, high_rate) for action in many] == [*[""] * 8, "busy"]
    throttle.finish(many[0], is_sent=True, count=0)
    assert throttle.check_and_reserve(many[8], high_rate) == ""


async def test_the_oldest_of_too_many_remembered_notifications_are_forgotten(monkeypatch):
    monkeypatch.setattr("termvisor.actions.notifications.notifier._MAX_REMEMBERED", 2)
    first, second, third = (replace(BUILD, text=text) for text in "abc")
    throttle, often = NotificationThrottle(FakeClock()), replace(SETTINGS, notify_rate=60)
    sent = [send(throttle, action, often) for action in (first, second, first, third, second, first)]
    assert sent == ["", "", "repeated", "", "repeated", ""]


async def test_the_window_ends_at_its_last_instant():
    clock = FakeClock()
    throttle = NotificationThrottle(clock)
    assert send_all(throttle, BUILD) == [""]
    await clock.advance(60)
    assert send_all(throttle, BUILD) == [""]
