"""When it is better to say nothing."""

from msgspec.structs import replace

from termvisor.actions.notifications.throttle import Manners
from termvisor.model.action.action import Notify
from termvisor.model.action.notification import NotifySettings
from termvisor.model.ids import PaneId
from termvisor.testing.world import StillClock

BUILD = Notify(title="build", text="done")
SETTINGS = NotifySettings(notify_window=60, notify_rate=3)


def said(manners: Manners, *actions: Notify) -> list[str]:
    """Each is told at once, unless it is held back."""
    return [told(manners, action) for action in actions]


def told(manners: Manners, action: Notify, settings: NotifySettings = SETTINGS) -> str:
    why = manners.holds_back(action, settings)
    if not why:
        manners.ended(action, is_told=True, count=0)
    return why


async def test_the_same_is_said_again_only_after_the_window():
    clock = StillClock()
    manners = Manners(clock)
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
    assert said(Manners(StillClock()), BUILD, *others) == ["", "", "", ""]


async def test_too_many_are_held_back_each_way_on_its_own_and_counted_once():
    clock = StillClock()
    manners = Manners(clock)
    many = [replace(BUILD, text=str(number)) for number in range(5)]
    assert said(manners, *many) == ["", "", "", "too_many", "too_many"]
    assert said(manners, replace(BUILD, way="desktop")) == [""]
    await clock.advance(20)
    assert said(manners, many[4]) == [""]
    assert [manners.take_count("terminal"), manners.take_count("terminal"), manners.take_count("desktop")] == [2, 0, 0]


async def test_what_did_not_get_through_may_be_said_again_and_its_count_is_not_lost():
    manners = Manners(StillClock())
    assert manners.holds_back(BUILD, SETTINGS) == ""
    assert manners.holds_back(BUILD, SETTINGS) == "repeated"
    manners.ended(BUILD, is_told=False, count=manners.take_count("terminal"))
    assert said(manners, BUILD) == [""]
    assert manners.take_count("terminal") == 1


async def test_what_was_said_is_remembered_within_bounds():
    manners = Manners(StillClock())
    lavish = replace(SETTINGS, notify_rate=5000)
    for number in range(1500):
        assert told(manners, replace(BUILD, text=str(number)), lavish) == ""
    assert len(manners._said) <= 1001
    assert manners.holds_back(replace(BUILD, text="1499"), lavish) == "repeated"


async def test_while_many_are_on_their_way_no_more_are_sent():
    manners, lavish = Manners(StillClock()), replace(SETTINGS, notify_rate=100)
    many = [replace(BUILD, text=str(number)) for number in range(9)]
    assert [manners.holds_back(action, lavish) for action in many] == [*[""] * 8, "busy"]
    manners.ended(many[0], is_told=True, count=0)
    assert manners.holds_back(many[8], lavish) == ""
