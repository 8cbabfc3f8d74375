"""Flags as one source tells them, and as several together."""

from termvisor.agents.state.flags import FlagTold, after, deadlines, holding, lasting
from termvisor.model.agent.signal import FlagsTold
from tests.unit.agents.state.scene import at, says, shows

LIMIT = FlagsTold(usage_limited=True, resets_at=at(60))


def test_a_look_shows_only_what_is_there_now_and_since_when() -> None:
    first = after({}, shows(1, "idle", flags=LIMIT))
    again = after(first, shows(5, "idle", flags=LIMIT))
    assert again == first == {"usage_limited": FlagTold(at(1), True, at(60))}
    assert after(again, shows(9, "idle")) == {}
    assert after({}, shows(9, "idle", flags=FlagsTold(auth_needed=False))) == {}


def test_a_source_keeps_its_word_until_it_says_otherwise() -> None:
    told = after({}, says(1, "hook", "error", flags=LIMIT))
    assert after(told, says(2, "hook", "running")) == told
    assert after(told, says(2, "hook", kind="note", flags=FlagsTold(usage_limited=False))) == {
        "usage_limited": FlagTold(at(2), False)
    }


def test_the_newest_word_counts() -> None:
    old, new = {"auth_needed": FlagTold(1, True)}, {"auth_needed": FlagTold(2, False)}
    assert not holding("idle", [old, new], at(0)).auth_needed
    assert not holding("idle", [new, old], at(0)).auth_needed


def test_a_limit_with_an_end_outlasts_its_source() -> None:
    told = after({}, says(1, "hook", "error", flags=FlagsTold(usage_limited=True, resets_at=at(61), auth_needed=True)))
    assert list(lasting(told)) == ["usage_limited"]
    assert deadlines(told) == [at(61)]


def test_a_limit_of_which_only_the_minute_is_told_lasts_until_that_is_past() -> None:
    told = after({}, says(1, "hook", "error", flags=FlagsTold(usage_limited=True, resets_at=at(60))))
    assert holding("error", [told], at(119)).resets_at == at(60)
    assert not holding("error", [told], at(120)).usage_limited
    assert deadlines(told) == [at(120)]
