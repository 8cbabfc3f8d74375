"""One transition of the tracker, without a store."""

import pytest
from msgspec.structs import replace

from termvisor.agents.state.reducer import AgentKnowledge
from termvisor.agents.tracking.transition import (
    TrackerState,
    build_tracking_config,
    compute_transition,
    reconcile_state,
)
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentExited, PaneClosed, TargetReachability
from termvisor.model.agent.signal import FlagUpdate, ProcessHint
from termvisor.model.agent.state import AgentState, StateChange, StateProjection
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from termvisor.settings import Settings
from termvisor.store.tables.agent_facts import PublishedState
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import (
    ONE,
    build_agent_started,
    build_config,
    build_registry,
    build_signal,
)

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


def test_the_final_change_of_an_agent_says_that_its_pane_has_none():
    flags = FlagUpdate(usage_limited=True)
    running = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", flags=flags)]).state
    outcome = apply_facts([AgentExited(at=NOON + NS, runtime=ONE, exit_code=0)], running, 1)
    (change,) = outcome.changes
    final = AgentState(
        runtime=ONE,
        pane=PaneId(1),
        agent="toy",
        reason="no_signal",
        since=NOON + NS,
        presence="unmanaged",
        binding="unmanaged",
        last_event=NOON,
    )
    assert change == StateChange(at=NOON + NS, version=2, before=running.projections[ONE].state, after=final)
    (stored,) = outcome.batch.states
    projection = StateProjection(version=2, state=final, changed_at=NOON + NS)
    assert stored == PublishedState(projection=projection, began_at=NOON, ended_at=NOON + NS)
    (event,) = outcome.batch.events
    data = {"runtime": 1, "agent": "toy", "end_reason": "limit_reached", "exit_code": 0}
    assert event == Event(at=NOON + NS, kind="agent_ended", pane=PaneId(1), data=data)
    assert (outcome.state.deadlines, outcome.state.sessions.open_sessions) == ({}, {})


def test_an_agent_that_never_had_a_state_ends_with_the_first_version():
    outcome = apply_facts([build_agent_started(NOON), AgentExited(at=NOON + 1, runtime=ONE, exit_code=3)])
    (change,) = outcome.changes
    final = AgentState(
        runtime=ONE,
        pane=PaneId(1),
        agent="toy",
        reason="no_signal",
        since=NOON + 1,
        presence="unmanaged",
        binding="unmanaged",
    )
    assert change == StateChange(at=NOON + 1, version=1, before=None, after=final)
    assert outcome.batch.events[0].data["exit_code"] == 3


def test_the_end_of_a_pane_has_no_exit_code():
    running = apply_facts([build_agent_started(NOON), build_signal(NOON, "running")]).state
    (event,) = apply_facts([PaneClosed(at=NOON + NS, pane=PaneId(1))], running, 1).batch.events
    assert event.data == {"runtime": 1, "agent": "toy", "end_reason": "pane_gone"}


def test_agents_that_are_unknown_after_a_restart_end_with_all_they_have():
    known = apply_facts([build_agent_started(NOON), build_signal(NOON, "running", session="abc")]).state
    lost = replace(known, knowledge=AgentKnowledge())
    outcome = reconcile_state(lost, NOON + 60 * NS, build_config())
    (stored,) = outcome.batch.states
    assert (stored.began_at, stored.ended_at, stored.projection.version) == (NOON + 60 * NS, NOON + 60 * NS, 2)
    assert [(event.kind, event.data["end_reason"]) for event in outcome.batch.events] == [("agent_ended", "manual")]
    assert [(one.external_id, one.ended_at) for one in outcome.batch.sessions] == [("abc", NOON + 60 * NS)]
    assert outcome.batch.facts == []


def test_the_end_of_a_session_without_a_process_leaves_its_pane_without_a_reason_to_correct():
    """An agent may end while another starts in its pane: each has its own end reason."""
    first = apply_facts([build_agent_started(NOON), build_signal(NOON, "running")]).state
    ended = apply_facts([AgentExited(at=NOON + 1, runtime=ONE, exit_code=1)], first)
    again = apply_facts([build_agent_started(NOON + 2, 2), build_signal(NOON + 3, "idle", runtime=TWO)], ended.state)
    over = apply_facts([AgentExited(at=NOON + 4, runtime=TWO, exit_code=0)], again.state)
    assert [event.data["end_reason"] for event in (*ended.batch.events, *over.batch.events)] == [None, "manual"]


def test_a_signal_of_one_agent_leaves_the_deadline_of_another():
    done = [build_signal(NOON, "completed"), build_signal(NOON, "completed", runtime=TWO)]
    both = apply_facts([build_agent_started(NOON), build_agent_started(NOON, 2, pane=2), *done]).state
    after = apply_facts([build_signal(NOON + NS, "running")], both, 1).state
    assert after.deadlines[TWO] == NOON + 120 * NS != after.deadlines[ONE]


def test_an_unreachable_target_that_was_known_to_be_so_recomputes_nothing():
    down = TargetReachability(at=NOON, target=TargetName("local"), is_reachable=False)
    known = apply_facts([build_agent_started(NOON), down]).state
    assert apply_facts([replace(down, at=NOON + NS)], known, 1).changes == ()
    up = apply_facts([replace(down, at=NOON + NS, is_reachable=True)], known, 1)
    assert [change.after.reason for change in up.changes] == ["no_signal"]


def test_settings_become_thresholds():
    settings = Settings(agent_completed_for=7, agent_contradicted_after=8, agent_idle_after=9)
    registry = build_registry()
    config = build_tracking_config(registry, settings)
    thresholds = config.thresholds
    assert (thresholds.completed_for, thresholds.contradicted_after, thresholds.idle_after) == (7 * NS, 8 * NS, 9 * NS)
    assert thresholds.sources == registry.sources
    assert config.build_resume_command("toy", "abc") == ("toy-agent", "--resume", "abc")


def test_an_error_that_the_agent_reported_before_it_exited_is_proven():
    failed = apply_facts([build_agent_started(NOON), build_signal(NOON, "error")]).state
    (event,) = apply_facts([AgentExited(at=NOON + NS, runtime=ONE)], failed, 1).batch.events
    assert event.data["end_reason"] == "error"
