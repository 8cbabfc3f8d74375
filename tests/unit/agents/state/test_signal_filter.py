"""Who may be heard at all."""

import pytest
from msgspec.structs import replace

from termvisor.agents.state.signal_filter import refused
from termvisor.agents.state.thresholds import Measure
from tests.declared import DEFAULT, SOURCES
from tests.unit.agents.state.scene import says

REFUSED = [
    (says(1, "telepathy", "idle"), "source_inadmissible"),
    (says(1, "screen", "idle", tier="deterministic"), "source_inadmissible"),
    (says(1, "hook", "idle", tier="heuristic"), "source_inadmissible"),
    (says(1, "app_server", "idle"), "source_inadmissible"),
    (says(1, "hook", "idle", event_at=0), "missing_event_time"),
    (says(1, "hook", kind="state"), "invalid_source_event"),
    (says(1, "hook", "unknown"), "invalid_source_event"),
    (says(1, "hook", "idle", reason="gap"), "invalid_source_event"),
    (says(1, "hook", kind="task_began"), "invalid_source_event"),
    (says(1, "hook", "idle", dedupe_key=""), "invalid_source_event"),
    (says(1, "hook", "idle", confidence=1.5), "invalid_source_event"),
    (says(1, "screen", kind="exited"), "invalid_source_event"),
]


@pytest.mark.parametrize(("signal", "why"), REFUSED)
def test_it_is_not_heard(signal, why: str) -> None:
    assert refused(signal, DEFAULT) == why


@pytest.mark.parametrize(
    "signal",
    [
        says(1, "hook", "idle"),
        says(1, "hook"),
        says(1, "hook", "unknown", reason="unsupported_signal"),
        says(1, "hook", kind="task_ended", task="a"),
        says(1, "screen", kind="no_agent"),
        says(1, "process", kind="exited"),
        says(1, "server", "idle", agent="some_other_agent"),
    ],
)
def test_it_is_heard(signal) -> None:
    assert refused(signal, DEFAULT) is None


@pytest.mark.parametrize("standing", ["pending", "stale", "revoked"])
def test_a_source_from_outside_is_heard_only_while_it_is_active(standing) -> None:
    sources = tuple(replace(one, standing=standing) for one in SOURCES["claude_code"])
    assert refused(says(1, "hook", "idle"), Measure(sources={"claude_code": sources})) == "source_not_active"
