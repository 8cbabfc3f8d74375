"""Suppression of notifications."""

from msgspec.structs import replace

from termvisor.actions.notifications.notifier import NotificationThrottle
from termvisor.model.action.action import Notify
from termvisor.model.ids import PaneId
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.testing.fake_clock import FakeClock

BUILD = Notify(title="build", text="done")
SETTINGS = NotificationSettings(notify_window=60, notify_rate=3)


def said(manners: NotificationThrottle, *actions: Notify) -> list[str]:
    """Each is told at once, unless it is held back."""
    return [told(manners, action) for action in actions]


def told(manners: NotificationThrottle, action: Notify, settings: NotificationSettings = SETTINGS) -> str:
    why = manners.check_and_reserve(action, settings)
    if not why:
        manners.finish(action, is_sent=True, count=0)
    return why


async def test_a_repetition_is_sent_only_after_the_window():
    clock = FakeClock()
    manners = NotificationThrottle(clock)
    assert said(manners, BUILD, BUILD) == ["", "repeated"]
    await clock.advance(59)
    assert said(manners, BUILD) == ["repeated"]
    await clock.advance(2)
    assert said(manners, BUILD) == [""]


async def test_another_pane_title_text_or_way_is_something_else():
    others = [
        replace(BUILD, pane=PaneId(2)),
        replace(BUILD, title="test"),
        replace(BUILD, way="desktop"),
    ]
    assert said(NotificationThrottle(FakeClock()), BUILD, *others) == ["", "", "", ""]


async def test_too_many_are_suppressed_per_channel_and_counted_once():
    clock = FakeClock()
    manners = NotificationThrottle(clock)
    many = [replace(BUILD, text=str(number)) for number in range(5)]
    assert said(manners, *many) == ["", "", "", "too_many", "too_many"]
    assert said(manners, replace(BUILD, way="desktop")) == [""]
    await clock.advance(20)
    assert said(manners, many[4]) == [""]
    assert [
        manners.take_suppressed_count("terminal"),
        manners.take_suppressed_count("terminal"),
        manners.take_suppressed_count("desktop"),
    ] == [2, 0, 0]


async def test_a_failed_notification_may_be_repeated_and_keeps_its_count():
    manners = NotificationThrottle(FakeClock())
    assert manners.check_and_reserve(BUILD, SETTINGS) == ""
    assert manners.check_and_reserve(BUILD, SETTINGS) == "repeated"
    manners.finish(BUILD, is_sent=False, count=manners.take_suppressed_count("terminal"))
    assert said(manners, BUILD) == [""]
    assert manners.take_suppressed_count("terminal") == 1


async def test_the_memory_for_repetitions_is_bounded():
    manners = NotificationThrottle(FakeClock())
    lavish = replace(SETTINGS, notify_rate=5000)
    for number in range(1500):
        assert told(manners, replace(BUILD, text=str(number)), lavish) == ""
    assert len(manners._sent_at) <= 1001
    assert manners.check_and_reserve(replace(BUILD, text="1499"), lavish) == "repeated"


async def test_notifications_in_flight_are_limited():
    manners, lavish = NotificationThrottle(FakeClock()), replace(SETTINGS, notify_rate=100)
    many = [replace(BUILD, text=str(number)) for number in range(9)]
    assert [manners.check_and_reserve(action, lavish) for action in many] == [*[""] * 8, "busy"]
    manners.finish(many[0], is_sent=True, count=0)
    assert manners.check_and_reserve(many[8], lavish) == ""
