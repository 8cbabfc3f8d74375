"""One turn of knowing, without a store."""

from msgspec.structs import replace

from termvisor.agents.tracking.transition import Standing, look_again, take_turn
from termvisor.clock import NS
from termvisor.model.agent.agent_process import PaneClosed, RuntimeEnded, TargetReached
from termvisor.model.agent.signal import Hint
from termvisor.model.ids import MuxPaneId, RuntimeId, TargetName
from termvisor.testing.world import NOON
from tests.unit.agents.tracking.house import ONE, began, says, terms

TWO = RuntimeId(2)


def turn(facts, standing: Standing | None = None, seconds: float = 0):
    return take_turn(standing or Standing(), facts, NOON + int(seconds * NS), terms())


def test_facts_get_the_next_numbers_and_signals_have_them_as_their_own():
    outcome = turn([began(NOON), says(NOON, "running")], Standing(last_fact=40))
    assert [number for number, _ in outcome.turn.facts] == [41, 42]
    assert outcome.turn.facts[1][1].id == 42
    assert outcome.changes[0].after.evidence == 42


def test_only_whoever_was_spoken_of_is_reckoned_anew():
    both = turn([began(NOON), began(NOON, 2, pane=2)]).standing
    outcome = turn([says(NOON, "running", runtime=TWO)], both)
    assert [change.after.runtime for change in outcome.changes] == [TWO]
    assert outcome.standing.projections[ONE] is both.projections[ONE]


def test_a_deadline_is_kept_and_met():
    done = turn([began(NOON), says(NOON, "completed")]).standing
    assert done.deadlines[ONE] == NOON + 120 * NS
    assert turn([], done, 119).changes == ()
    (change,) = turn([], done, 120).changes
    assert (change.before.value, change.after.value) == ("completed", "idle")


def test_a_word_that_waited_for_its_runtime_counts_for_its_session_too():
    early = says(NOON, "running", source="hook", runtime=None, session="abc", hint=Hint(pid=101))
    waiting = turn([early]).standing
    assert waiting.story.going_on == {}
    outcome = turn([began(NOON)], waiting)
    assert [(number, signal.session) for number, signal in outcome.bound] == [(ONE, "abc")]
    assert [one.external_id for one in outcome.turn.sessions] == ["abc"]
    assert outcome.changes[0].after.value == "running"


def test_a_word_that_is_dropped_counts_for_nothing():
    outcome = turn([began(NOON), says(NOON, "running", source="rumour", session="x")])
    assert (outcome.bound, outcome.turn.sessions[0].external_id) == ((), "")
    assert outcome.standing.knowledge.dropped == {"source_inadmissible": 1}


def test_one_that_began_and_ended_at_once_is_stored_and_told_as_over():
    outcome = turn([began(NOON), RuntimeEnded(at=NOON + 1, runtime=ONE)])
    assert [(one.version, one.after.presence) for one in outcome.changes] == [(1, "unmanaged")]
    (stored,) = outcome.turn.states
    assert (stored.began_at, stored.ended_at) == (NOON, NOON + 1)
    assert [event.kind for event in outcome.turn.events] == ["agent_ended"]
    assert outcome.standing.projections == {}


def test_nobody_says_why_one_that_broke_off_ended_before_it_is_known_whether_its_pane_ends_too():
    running = turn([began(NOON), says(NOON, "running")]).standing
    outcome = turn([RuntimeEnded(at=NOON + 1, runtime=ONE)], running)
    assert [event.data["end_reason"] for event in outcome.turn.events] == [None]
    pane = outcome.changes[0].after.pane
    (session,) = turn([PaneClosed(at=NOON + NS, pane=pane)], outcome.standing).turn.sessions
    assert session.end_reason == "pane_gone"


def test_one_that_ended_at_rest_has_ended_well():
    resting = turn([began(NOON), says(NOON, "completed")]).standing
    (event,) = turn([RuntimeEnded(at=NOON + 1, runtime=ONE)], resting).turn.events
    assert event.data["end_reason"] == "completed"


def test_a_newcomer_in_the_same_place_ends_the_one_before():
    first = turn([began(NOON), says(NOON, "idle")]).standing
    outcome = turn([began(NOON + NS, 2)], first)
    assert [(change.after.runtime, change.after.presence) for change in outcome.changes] == [
        (TWO, "managed"),
        (ONE, "unmanaged"),
    ]


def test_a_machine_that_does_not_answer_makes_all_of_its_agents_unknown():
    known = turn([began(NOON), says(NOON, "idle"), began(NOON, 2, pane=2)]).standing
    outcome = turn([TargetReached(at=NOON, target=TargetName("local"), is_reachable=False)], known)
    assert {change.after.reason for change in outcome.changes} == {"target_unreachable"}
    assert len(outcome.changes) == 2


def test_looking_again_publishes_what_time_did_and_ends_what_is_not_known():
    known = turn([began(NOON), says(NOON, "completed"), began(NOON, 2, pane=2)]).standing
    tenants = {ONE: known.knowledge.roster.tenants[ONE]}
    roster = replace(known.knowledge.roster, tenants=tenants)
    forgetful = replace(known, knowledge=replace(known.knowledge, roster=roster))
    outcome = look_again(forgetful, NOON + 300 * NS, terms())
    assert [(change.after.runtime, change.after.value) for change in outcome.changes] == [
        (ONE, "idle"),
        (TWO, "unknown"),
    ]
    assert [(one.runtime, one.end_reason) for one in outcome.turn.sessions] == [(TWO, "manual")]
    assert set(outcome.standing.projections) == set(outcome.standing.story.going_on) == {ONE}


def test_places_are_told_apart_by_their_pane():
    outcome = turn([began(NOON), began(NOON, 2, pane=2)])
    assert {one.runtime.place.mux_pane for _, one in outcome.turn.facts} == {MuxPaneId("%1"), MuxPaneId("%2")}
    assert len(outcome.standing.projections) == 2
