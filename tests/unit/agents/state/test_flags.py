"""Flags as one source tells them, and as several together."""

from termvisor.agents.state.flags import (
    FlagReport,
    apply_flag_signal,
    keep_lasting_flags,
    list_flag_deadlines,
    resolve_flags,
)
from termvisor.model.agent.signal import FlagUpdate
from tests.unit.agents.state.signal_scene import build_screen_signal, build_signal, to_ns

LIMIT = FlagUpdate(usage_limited=True, resets_at=to_ns(60))


def test_a_look_shows_only_what_is_there_now_and_since_when() -> None:
    first = apply_flag_signal({}, build_screen_signal(1, "idle", flags=LIMIT))
    again = apply_flag_signal(first, build_screen_signal(5, "idle", flags=LIMIT))
    assert again == first == {"usage_limited": FlagReport(to_ns(1), True, to_ns(60))}
    assert apply_flag_signal(again, build_screen_signal(9, "idle")) == {}
    assert apply_flag_signal({}, build_screen_signal(9, "idle", flags=FlagUpdate(auth_needed=False))) == {}


def test_a_source_keeps_its_word_until_it_says_otherwise() -> None:
    told = apply_flag_signal({}, build_signal(1, "hook", "error", flags=LIMIT))
    assert apply_flag_signal(told, build_signal(2, "hook", "running")) == told
    assert apply_flag_signal(told, build_signal(2, "hook", kind="note", flags=FlagUpdate(usage_limited=False))) == {
        "usage_limited": FlagReport(to_ns(2), False)
    }


def test_the_newest_word_counts() -> None:
    old, new = {"auth_needed": FlagReport(1, True)}, {"auth_needed": FlagReport(2, False)}
    assert not resolve_flags("idle", [old, new], to_ns(0)).auth_needed
    assert not resolve_flags("idle", [new, old], to_ns(0)).auth_needed


def test_a_limit_with_an_end_outlasts_its_source() -> None:
    told = apply_flag_signal(
        {},
        build_signal(1, "hook", "error", flags=FlagUpdate(usage_limited=True, resets_at=to_ns(61), auth_needed=True)),
    )
    assert list(keep_lasting_flags(told)) == ["usage_limited"]
    assert list_flag_deadlines(told) == [to_ns(61)]


def test_a_limit_of_which_only_the_minute_is_told_lasts_until_that_is_past() -> None:
    told = apply_flag_signal(
        {}, build_signal(1, "hook", "error", flags=FlagUpdate(usage_limited=True, resets_at=to_ns(60)))
    )
    assert resolve_flags("error", [told], to_ns(119)).resets_at == to_ns(60)
    assert not resolve_flags("error", [told], to_ns(120)).usage_limited
    assert list_flag_deadlines(told) == [to_ns(120)]
