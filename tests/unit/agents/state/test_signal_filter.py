"""Which signals are accepted."""

import pytest
from msgspec.structs import replace

from termvisor.agents.state.signal_admission import find_rejection_reason
from termvisor.agents.state.thresholds import Thresholds
from tests.builtin_thresholds import DEFAULT_THRESHOLDS, SOURCES_BY_AGENT
from tests.unit.agents.state.signal_scene import build_signal

REFUSED = [
    (build_signal(1, "telepathy", "idle"), "source_inadmissible"),
    (build_signal(1, "screen", "idle", tier="deterministic"), "source_inadmissible"),
    (build_signal(1, "hook", "idle", tier="heuristic"), "source_inadmissible"),
    (build_signal(1, "app_server", "idle"), "source_inadmissible"),
    (build_signal(1, "hook", "idle", event_at=0), "missing_event_time"),
    (build_signal(1, "hook", kind="state"), "invalid_source_event"),
    (build_signal(1, "hook", "unknown"), "invalid_source_event"),
    (build_signal(1, "hook", "idle", reason="gap"), "invalid_source_event"),
    (build_signal(1, "hook", kind="task_began"), "invalid_source_event"),
    (build_signal(1, "hook", "idle", dedupe_key=""), "invalid_source_event"),
    (build_signal(1, "hook", "idle", confidence=1.5), "invalid_source_event"),
    (build_signal(1, "screen", kind="exited"), "invalid_source_event"),
]


@pytest.mark.parametrize(("signal", "reason"), REFUSED)
def test_an_invalid_signal_has_a_rejection_reason(signal, reason: str) -> None:
    assert find_rejection_reason(signal, DEFAULT_THRESHOLDS) == reason


@pytest.mark.parametrize(
    "signal",
    [
        build_signal(1, "hook", "idle"),
        build_signal(1, "hook"),
        build_signal(1, "hook", "unknown", reason="unsupported_signal"),
        build_signal(1, "hook", kind="task_ended", task="a"),
        build_signal(1, "screen", kind="no_agent"),
        build_signal(1, "process", kind="exited"),
        build_signal(1, "server", "idle", agent="some_other_agent"),
    ],
)
def test_a_valid_signal_is_accepted(signal) -> None:
    assert find_rejection_reason(signal, DEFAULT_THRESHOLDS) is None


@pytest.mark.parametrize("standing", ["pending", "stale", "revoked"])
def test_only_active_sources_are_accepted(standing) -> None:
    sources = tuple(replace(one, standing=standing) for one in SOURCES_BY_AGENT["claude_code"])
    assert (
        find_rejection_reason(build_signal(1, "hook", "idle"), Thresholds(sources={"claude_code": sources}))
        == "source_not_active"
    )
