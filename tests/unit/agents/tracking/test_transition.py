"""One turn of knowing, without a store."""

from msgspec.structs import replace

from termvisor.agents.tracking.transition import TrackerState, compute_transition, reconcile_state
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentExited, PaneClosed, TargetReachability
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import MuxPaneId, RuntimeId, TargetName
from termvisor.testing.fake_services import NOON
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_config, build_signal

TWO = RuntimeId(2)


def turn(facts, standing: TrackerState | None = None, seconds: float = 0):
    return compute_transition(standing or TrackerState(), facts, NOON + int(seconds * NS), build_config())


def test_facts_get_the_next_numbers_and_signals_have_them_as_their_own():
    outcome = turn([build_agent_started(NOON), build_signal(NOON, "running")], TrackerState(last_fact=40))
    assert [number for number, _ in outcome.turn.facts] == [41, 42]
    assert outcome.turn.facts[1][1].id == 42
    assert outcome.changes[0].after.evidence == 42


def test_only_whoever_was_spoken_of_is_reckoned_anew():
    both = turn([build_agent_started(NOON), build_agent_started(NOON, 2, pane=2)]).state
    outcome = turn([build_signal(NOON, "running", runtime=TWO)], both)
    assert [change.after.runtime for change in outcome.changes] == [TWO]
    assert outcome.state.projections[ONE] is both.projections[ONE]


def test_a_deadline_is_kept_and_met():
    done = turn([build_agent_started(NOON), build_signal(NOON, "completed")]).state
    assert done.deadlines[ONE] == NOON + 120 * NS
    assert turn([], done, 119).changes == ()
    (change,) = turn([], done, 120).changes
    assert (change.before.value, change.after.value) == ("completed", "idle")


def test_a_word_that_waited_for_its_runtime_counts_for_its_session_too():
    early = build_signal(NOON, "running", source="hook", runtime=None, session="abc", hint=ProcessHint(pid=101))
    waiting = turn([early]).state
    assert waiting.story.going_on == {}
    outcome = turn([build_agent_started(NOON)], waiting)
    assert [(number, signal.session) for number, signal in outcome.bound_signals] == [(ONE, "abc")]
    assert [one.external_id for one in outcome.turn.sessions] == ["abc"]
    assert outcome.changes[0].after.value == "running"


def test_a_word_that_is_dropped_counts_for_nothing():
    outcome = turn([build_agent_started(NOON), build_signal(NOON, "running", source="rumour", session="x")])
    assert (outcome.bound_signals, outcome.turn.sessions[0].external_id) == ((), "")
    assert outcome.state.knowledge.dropped == {"source_inadmissible": 1}


def test_one_that_began_and_ended_at_once_is_stored_and_told_as_over():
    outcome = turn([build_agent_started(NOON), AgentExited(at=NOON + 1, runtime=ONE)])
    assert [(one.version, one.after.presence) for one in outcome.changes] == [(1, "unmanaged")]
    (stored,) = outcome.turn.states
    assert (stored.began_at, stored.ended_at) == (NOON, NOON + 1)
    assert [event.kind for event in outcome.turn.events] == ["agent_ended"]
    assert outcome.state.projections == {}


def test_nobody_says_why_one_that_broke_off_ended_before_it_is_known_whether_its_pane_ends_too():
    running = turn([build_agent_started(NOON), build_signal(NOON, "running")]).state
    outcome = turn([AgentExited(at=NOON + 1, runtime=ONE)], running)
    assert [event.data["end_reason"] for event in outcome.turn.events] == [None]
    pane = outcome.changes[0].after.pane
    (session,) = turn([PaneClosed(at=NOON + NS, pane=pane)], outcome.state).turn.sessions
    assert session.end_reason == "pane_gone"


def test_one_that_ended_at_rest_has_ended_well():
    resting = turn([build_agent_started(NOON), build_signal(NOON, "completed")]).state
    (event,) = turn([AgentExited(at=NOON + 1, runtime=ONE)], resting).turn.events
    assert event.data["end_reason"] == "completed"


def test_a_newcomer_in_the_same_place_ends_the_one_before():
    first = turn([build_agent_started(NOON), build_signal(NOON, "idle")]).state
    outcome = turn([build_agent_started(NOON + NS, 2)], first)
    assert [(change.after.runtime, change.after.presence) for change in outcome.changes] == [
        (TWO, "managed"),
        (ONE, "unmanaged"),
    ]


def test_a_machine_that_does_not_answer_makes_all_of_its_agents_unknown():
    known = turn([build_agent_started(NOON), build_signal(NOON, "idle"), build_agent_started(NOON, 2, pane=2)]).state
    outcome = turn([TargetReachability(at=NOON, target=TargetName("local"), is_reachable=False)], known)
    assert {change.after.reason for change in outcome.changes} == {"target_unreachable"}
    assert len(outcome.changes) == 2


def test_looking_again_publishes_what_time_did_and_ends_what_is_not_known():
    known = turn(
        [build_agent_started(NOON), build_signal(NOON, "completed"), build_agent_started(NOON, 2, pane=2)]
    ).state
    tenants = {ONE: known.knowledge.roster.tenants[ONE]}
    roster = replace(known.knowledge.roster, tenants=tenants)
    forgetful = replace(known, knowledge=replace(known.knowledge, roster=roster))
    outcome = reconcile_state(forgetful, NOON + 300 * NS, build_config())
    assert [(change.after.runtime, change.after.value) for change in outcome.changes] == [
        (ONE, "idle"),
        (TWO, "unknown"),
    ]
    assert [(one.runtime, one.end_reason) for one in outcome.turn.sessions] == [(TWO, "manual")]
    assert set(outcome.state.projections) == set(outcome.state.story.going_on) == {ONE}


def test_places_are_told_apart_by_their_pane():
    outcome = turn([build_agent_started(NOON), build_agent_started(NOON, 2, pane=2)])
    assert {one.runtime.place.mux_pane for _, one in outcome.turn.facts} == {MuxPaneId("%1"), MuxPaneId("%2")}
    assert len(outcome.state.projections) == 2
