"""Events of agents."""

import pytest
from msgspec.structs import replace

from termvisor.agents.tracking import transition
from termvisor.model.agent.state import AgentFlags, AgentState, StateChange, StateContradiction
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, SignalId
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started

IDLE = AgentState(runtime=ONE, pane=PaneId(7), agent="toy", value="idle", source="osc", evidence=SignalId(4))


def build_change(before: AgentState | None, after: AgentState) -> StateChange:
    return StateChange(at=NOON, version=3, before=before, after=after)


def test_start_and_end_events():
    first = transition.build_began_event(build_change(None, IDLE), build_agent_started(NOON).runtime)
    agent = {"runtime": 1, "agent": "toy"}
    assert first == Event(at=NOON, kind="agent_began", pane=PaneId(7), data={**agent, "pid": 101})
    last = transition.build_ended_event(build_change(IDLE, IDLE), "error")
    assert last == Event(at=NOON, kind="agent_ended", pane=PaneId(7), data={**agent, "end_reason": "error"})
    failed = transition.build_ended_event(build_change(IDLE, IDLE), None, 3)
    assert failed.data == {**agent, "end_reason": None, "exit_code": 3}


@pytest.mark.parametrize(("before", "value"), [(replace(IDLE, value="running"), "running"), (None, None)])
def test_a_change_event_has_both_states_and_the_evidence(before, value):
    event = transition.build_changed_event(build_change(before, replace(IDLE, evidence_mode="heuristic")))
    data = {
        "runtime": 1,
        "agent": "toy",
        "before": value,
        "after": "idle",
        "tier": "heuristic",
        "source": "osc",
        "evidence": 4,
        "confidence": "low",
        "version": 3,
    }
    assert event == Event(at=NOON, kind="state_changed", pane=PaneId(7), data=data)


def test_the_same_state_from_another_source_is_no_event():
    assert (
        transition.build_changed_event(build_change(IDLE, replace(IDLE, source="hook", confidence="high", since=NOON)))
        is None
    )


@pytest.mark.parametrize(
    "change", [{"value": "running"}, {"reason": "gap"}, {"flags": AgentFlags(subtasks=2)}, {"presence": "unmanaged"}]
)
def test_each_visible_field_is_an_event(change):
    assert transition.build_changed_event(build_change(IDLE, replace(IDLE, **change))) is not None


CONTRADICTION = StateContradiction(since=NOON, by="screen", state="waiting_input")


@pytest.mark.parametrize(
    ("flags", "data"),
    [
        ({"usage_limited": True, "resets_at": NOON}, {"usage_limited": True, "resets_at": NOON}),
        ({"compacting": True}, {"compacting": True}),
        ({"auth_needed": True}, {"auth_needed": True}),
        ({"subtasks": 2}, {"subtasks": 2}),
        ({"contradicted": CONTRADICTION}, {"contradicted": "waiting_input"}),
        ({"ambiguous": True}, {"ambiguous": True}),
    ],
)
def test_set_flags_and_the_unknown_reason_are_in_the_event(flags, data):
    unknown = replace(IDLE, value="unknown", reason="gap", flags=AgentFlags(**flags))
    event = transition.build_changed_event(build_change(IDLE, unknown))
    fixed = {"runtime", "agent", "before", "after", "tier", "source", "evidence", "confidence", "version"}
    assert {name: event.data[name] for name in event.data.keys() - fixed} == {"reason": "gap", **data}
