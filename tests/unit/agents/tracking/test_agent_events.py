"""Events of agents."""

from msgspec.structs import replace

from termvisor.agents.tracking import transition
from termvisor.model.agent.state import AgentFlags, AgentState, StateChange, StateContradiction
from termvisor.model.ids import PaneId, SignalId
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started

IDLE = AgentState(runtime=ONE, pane=PaneId(7), agent="toy", value="idle", source="osc", evidence=SignalId(4))


def build_change(before: AgentState | None, after: AgentState) -> StateChange:
    return StateChange(at=NOON, version=3, before=before, after=after)


def test_start_and_end_events():
    first = transition.build_began_event(build_change(None, IDLE), build_agent_started(NOON).runtime)
    assert (first.kind, first.pane, first.data) == ("agent_began", 7, {"runtime": 1, "agent": "toy", "pid": 101})
    last = transition.build_ended_event(build_change(IDLE, IDLE), "error")
    assert (last.kind, last.data["end_reason"]) == ("agent_ended", "error")


def test_a_change_event_has_both_states_and_the_evidence():
    event = transition.build_changed_event(build_change(replace(IDLE, value="running"), IDLE))
    assert (event.data["before"], event.data["after"], event.data["source"], event.data["evidence"]) == (
        "running",
        "idle",
        "osc",
        4,
    )


def test_the_same_state_from_another_source_is_no_event():
    assert (
        transition.build_changed_event(build_change(IDLE, replace(IDLE, source="hook", confidence="high", since=NOON)))
        is None
    )


def test_set_flags_and_the_unknown_reason_are_in_the_event():
    contradiction = StateContradiction(since=NOON, by="screen", state="waiting_input")
    flags = AgentFlags(usage_limited=True, resets_at=NOON, contradicted=contradiction)
    event = transition.build_changed_event(
        build_change(IDLE, replace(IDLE, value="unknown", reason="gap", flags=flags))
    )
    assert event.data["reason"] == "gap"
    assert (event.data["usage_limited"], event.data["resets_at"], event.data["contradicted"]) == (
        True,
        NOON,
        "waiting_input",
    )
    assert "compacting" not in event.data
