"""Flags of one source, and of several together."""

from termvisor.agents.state.flags_and_subtasks import (
    FlagReport,
    apply_flag_signal,
    keep_lasting_flags,
    list_flag_deadlines,
    resolve_flags,
)
from termvisor.model.agent.signal import FlagUpdate
from tests.unit.agents.state.signal_scene import build_screen_signal, build_signal, to_ns

LIMIT = FlagUpdate(usage_limited=True, resets_at=to_ns(60))


def test_a_screen_reports_only_current_flags_with_their_age() -> None:
    first = apply_flag_signal({}, build_screen_signal(1, "idle", flags=LIMIT))
    again = apply_flag_signal(first, build_screen_signal(5, "idle", flags=LIMIT))
    assert again == first == {"usage_limited": FlagReport(to_ns(1), True, to_ns(60))}
    assert apply_flag_signal(again, build_screen_signal(9, "idle")) == {}
    assert apply_flag_signal({}, build_screen_signal(9, "idle", flags=FlagUpdate(auth_needed=False))) == {}


def test_a_native_flag_stays_until_changed() -> None:
    flags = apply_flag_signal({}, build_signal(1, "hook", "error", flags=LIMIT))
    assert apply_flag_signal(flags, build_signal(2, "hook", "running")) == flags
    assert apply_flag_signal(flags, build_signal(2, "hook", kind="note", flags=FlagUpdate(usage_limited=False))) == {
        "usage_limited": FlagReport(to_ns(2), False)
    }


def test_a_native_flag_is_as_old_as_the_event_that_reported_it() -> None:
    limited = apply_flag_signal({}, build_signal(4, "hook", "running", flags=LIMIT))
    late = build_signal(5, "session_file", "running", event_at=to_ns(1), flags=FlagUpdate(usage_limited=False))
    from_future = build_signal(5, "session_file", "completed", event_at=to_ns(9))
    assert resolve_flags("running", [limited, apply_flag_signal({}, late)], to_ns(6)).usage_limited
    assert apply_flag_signal({}, late)["usage_limited"].since == to_ns(5)
    assert apply_flag_signal({}, from_future)["auth_needed"].reported_at == to_ns(5)


def test_the_newest_report_counts() -> None:
    old, new = {"auth_needed": FlagReport(1, True)}, {"auth_needed": FlagReport(2, False)}
    assert not resolve_flags("idle", [old, new], to_ns(0)).auth_needed
    assert not resolve_flags("idle", [new, old], to_ns(0)).auth_needed


def test_a_limit_with_a_reset_time_outlasts_its_source() -> None:
    flags = apply_flag_signal(
        {},
        build_signal(1, "hook", "error", flags=FlagUpdate(usage_limited=True, resets_at=to_ns(61), auth_needed=True)),
    )
    assert list(keep_lasting_flags(flags)) == ["usage_limited"]
    assert list_flag_deadlines(flags) == [to_ns(61)]


def test_a_reset_time_is_rounded_up_to_the_minute() -> None:
    flags = apply_flag_signal(
        {}, build_signal(1, "hook", "error", flags=FlagUpdate(usage_limited=True, resets_at=to_ns(60)))
    )
    assert resolve_flags("error", [flags], to_ns(119)).resets_at == to_ns(60)
    assert not resolve_flags("error", [flags], to_ns(120)).usage_limited
    assert list_flag_deadlines(flags) == [to_ns(120)]
