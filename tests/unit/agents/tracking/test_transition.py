"""One transition of the tracker, without a store."""

import pytest
from msgspec.structs import replace

from termvisor.agents.tracking.transition import TrackerState, compute_transition, reconcile_state
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentExited, PaneClosed, TargetReachability
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import MuxPaneId, RuntimeId, TargetName
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_config, build_signal

TWO = RuntimeId(2)


def apply_facts(facts, state: TrackerState | None = None, seconds: float = 0):
    return compute_transition(state or TrackerState(), facts, NOON + int(seconds * NS), build_config())


def test_facts_are_numbered_and_signals_get_their_id():
    outcome = apply_facts([build_agent_started(NOON), build_signal(NOON, "running")], TrackerState(last_fact=40))
    assert [number for number, _ in outcome.batch.facts] == [41, 42]
    assert outcome.batch.facts[1][1].id == 42
    assert outcome.changes[0].after.evidence == 42


def test_only_affected_agents_are_recomputed():
    both = apply_facts([build_agent_started(NOON), build_agent_started(NOON, 2, pane=2)]).state
    outcome = apply_facts([build_signal(NOON, "running", runtime=TWO)], both)
    assert [change.after.runtime for change in outcome.changes] == [TWO]
    assert outcome.state.projections[ONE] is both.projections[ONE]


def test_a_deadline_is_set_and_met():
    done = apply_facts([build_agent_started(NOON), build_signal(NOON, "completed")]).state
    assert done.deadlines[ONE] == NOON + 120 * NS
    assert apply_facts([], done, 119).changes == ()
    (change,) = apply_facts([], done, 120).changes
    assert (change.before.value, change.after.value) == ("completed", "idle")


def test_the_published_value_keeps_the_time_when_it_changed():
    idle = apply_facts([build_agent_started(NOON), build_signal(NOON, "completed")]).state
    assert idle.projections[ONE].changed_at == NOON
    again = apply_facts([build_signal(NOON + NS, "completed", source="notes")], idle, 1).state
    assert again.projections[ONE].changed_at == NOON, "another source confirms it"
    turn = [build_signal(NOON + 2 * NS, "running"), build_signal(NOON + 3 * NS, "completed")]
    assert apply_facts(turn, idle, 3).state.projections[ONE].changed_at == NOON + 3 * NS, "a whole turn in one batch"


def test_a_pending_signal_updates_the_session_when_bound():
    early = build_signal(NOON, "running", source="hook", runtime=None, session="abc", hint=ProcessHint(pid=101))
    waiting = apply_facts([early]).state
    assert waiting.sessions.open_sessions == {}
    outcome = apply_facts([build_agent_started(NOON)], waiting)
    assert [(number, signal.session) for number, signal in outcome.bound_signals] == [(ONE, "abc")]
    assert [one.external_id for one in outcome.batch.sessions] == ["abc"]
    assert outcome.changes[0].after.value == "running"


def test_a_dropped_signal_changes_nothing():
    outcome = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", source="rumour", session="x")])
    assert (outcome.bound_signals, outcome.batch.sessions[0].external_id) == ((), "")
    assert outcome.state.knowledge.dropped == {"source_inadmissible": 1}


def test_an_agent_that_started_and_exited_in_one_batch_is_stored_as_ended():
    outcome = apply_facts([build_agent_started(NOON), AgentExited(at=NOON + 1, runtime=ONE)])
    assert [(one.version, one.after.presence) for one in outcome.changes] == [(1, "unmanaged")]
    (stored,) = outcome.batch.states
    assert (stored.began_at, stored.ended_at) == (NOON, NOON + 1)
    assert [event.kind for event in outcome.batch.events] == ["agent_ended"]
    assert outcome.state.projections == {}


def test_an_abrupt_end_has_no_reason_until_the_pane_is_known():
    running = apply_facts([build_agent_started(NOON), build_signal(NOON, "running")]).state
    outcome = apply_facts([AgentExited(at=NOON + 1, runtime=ONE)], running)
    assert [event.data["end_reason"] for event in outcome.batch.events] == [None]
    pane = outcome.changes[0].after.pane
    (session,) = apply_facts([PaneClosed(at=NOON + NS, pane=pane)], outcome.state).batch.sessions
    assert session.end_reason == "pane_gone"


def test_an_exit_right_after_the_task_is_completed_and_a_later_one_manual():
    resting = apply_facts([build_agent_started(NOON), build_signal(NOON, "completed")]).state
    (event,) = apply_facts([AgentExited(at=NOON + 1, runtime=ONE)], resting).batch.events
    assert event.data["end_reason"] == "completed"
    (event,) = apply_facts([AgentExited(at=NOON + 9 * NS, runtime=ONE, exit_code=0)], resting, 9).batch.events
    assert (event.data["end_reason"], event.data["exit_code"]) == ("manual", 0)


def test_an_idle_agent_that_was_killed_is_an_error_and_with_its_window_pane_gone():
    resting = apply_facts([build_agent_started(NOON), build_signal(NOON, "idle")]).state
    killed = apply_facts([AgentExited(at=NOON + NS, runtime=ONE, exit_code=137)], resting, 1)
    assert [one.end_reason for one in killed.batch.sessions] == ["error"]
    (event,) = killed.batch.events
    assert (event.data["end_reason"], event.data["exit_code"]) == (None, 137)
    (session,) = apply_facts([PaneClosed(at=NOON + 2 * NS, pane=event.pane)], killed.state, 2).batch.sessions
    assert session.end_reason == "pane_gone"


def test_a_new_agent_in_the_same_pane_ends_the_previous_one():
    first = apply_facts([build_agent_started(NOON), build_signal(NOON, "idle")]).state
    outcome = apply_facts([build_agent_started(NOON + NS, 2)], first)
    assert [(change.after.runtime, change.after.presence) for change in outcome.changes] == [
        (TWO, "managed"),
        (ONE, "unmanaged"),
    ]


def test_an_unreachable_target_makes_its_agents_unknown():
    known = apply_facts(
        [build_agent_started(NOON), build_signal(NOON, "idle"), build_agent_started(NOON, 2, pane=2)]
    ).state
    outcome = apply_facts([TargetReachability(at=NOON, target=TargetName("local"), is_reachable=False)], known)
    assert {change.after.reason for change in outcome.changes} == {"target_unreachable"}
    assert len(outcome.changes) == 2


def test_reconcile_publishes_time_changes_and_ends_unknown_agents():
    known = apply_facts(
        [build_agent_started(NOON), build_signal(NOON, "completed"), build_agent_started(NOON, 2, pane=2)]
    ).state
    agents = {ONE: known.knowledge.roster.agents[ONE]}
    roster = replace(known.knowledge.roster, agents=agents)
    incomplete = replace(known, knowledge=replace(known.knowledge, roster=roster))
    outcome = reconcile_state(incomplete, NOON + 300 * NS, build_config())
    assert [(change.after.runtime, change.after.value) for change in outcome.changes] == [
        (ONE, "idle"),
        (TWO, "unknown"),
    ]
    assert [(one.runtime, one.end_reason) for one in outcome.batch.sessions] == [(TWO, "manual")]
    assert set(outcome.state.projections) == set(outcome.state.sessions.open_sessions) == {ONE}


def test_locations_differ_by_pane():
    outcome = apply_facts([build_agent_started(NOON), build_agent_started(NOON, 2, pane=2)])
    assert {one.runtime.place.mux_pane for _, one in outcome.batch.facts} == {MuxPaneId("%1"), MuxPaneId("%2")}
    assert len(outcome.state.projections) == 2


@pytest.mark.parametrize("source", ["osc", "hook"])
def test_a_pending_signal_that_expired_is_not_bound_with_the_next_one(source):
    lost = build_signal(NOON, "running", source="hook", runtime=None, session="lost", hint=ProcessHint(pid=999))
    waiting = apply_facts([build_agent_started(NOON), lost]).state
    late = build_signal(NOON + 3600 * NS, "running", source=source, session="own")
    outcome = apply_facts([late], waiting, 3600)
    assert [(number, signal.session) for number, signal in outcome.bound_signals] == [(ONE, "own")]
    assert [one.external_id for one in outcome.batch.sessions] == ["own"]


def test_a_duplicate_beside_another_source_is_not_bound_again():
    first = build_signal(NOON, "running", session="a")
    known = apply_facts([build_agent_started(NOON), first]).state
    assert apply_facts([first], known, 1).bound_signals == ()
    other = build_signal(NOON + NS, "running", source="hook", session="a")
    assert [signal.source for _, signal in apply_facts([first, other], known, 1).bound_signals] == ["hook"]
