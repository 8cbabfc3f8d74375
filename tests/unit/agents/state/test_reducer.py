"""All facts together: what waits, what is dropped and counted, who lives."""

from termvisor.agents.state.published_state import state_of, states
from termvisor.agents.state.reducer import Knowledge, tell, told
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.agent_process import PaneClosed, PaneMissed, RuntimeEnded
from termvisor.model.agent.signal import Hint
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import ONE, at, began, knowing, runtime, says, seen

HINT = Hint(mux_pane=MuxPaneId("%5"))


def unbound(seconds: float, state="running", **fields):
    return says(seconds, "hook", state, runtime=None, hint=HINT, **fields)


def test_a_signal_that_comes_before_its_runtime_is_known_waits_for_it() -> None:
    early = tell(Knowledge(), unbound(5), DEFAULT)
    assert (len(early.pending), early.ledgers, early.dropped) == (1, {}, {})
    known = tell(early, began(0), DEFAULT)
    assert (known.pending, seen(known, 6).value) == ((), "running")


def test_a_word_from_before_the_process_started_is_not_its_own() -> None:
    known = told(Knowledge(), [unbound(5), began(6)], DEFAULT)
    assert (known.pending, known.dropped, seen(known, 7).value) == ((), {"late_event": 1}, "unknown")


def test_a_signal_waits_ten_seconds_and_is_counted_then() -> None:
    waiting = tell(Knowledge(), unbound(5), DEFAULT)
    assert tell(waiting, RuntimeEnded(at=at(15), runtime=RuntimeId(9)), DEFAULT).dropped == {}
    assert tell(waiting, RuntimeEnded(at=at(15.1), runtime=RuntimeId(9)), DEFAULT).dropped == {"dropped_unbound": 1}


def test_a_signal_that_fits_two_is_nobodys() -> None:
    hint = Hint(cwd="/home/ada/src")
    twins = [began(0), began(0, runtime(2, mux_pane="%6")), says(1, "hook", "running", runtime=None, hint=hint)]
    known = told(Knowledge(), [*twins, says(20, "hook")], DEFAULT)
    assert known.dropped == {"binding_conflict": 1}
    assert states(known, at(20), DEFAULT)[1].value == "unknown"


def test_who_waits_is_bounded() -> None:
    few = Measure(pending_at_most=2)
    known = told(Knowledge(), [unbound(one) for one in (1, 2, 3)], few)
    assert (len(known.pending), known.dropped) == (2, {"dropped_unbound": 1})


def test_what_is_doubled_late_or_not_admitted_is_counted_and_changes_nothing() -> None:
    before = knowing(says(5, "hook", "running"))
    doubled = says(6, "hook", "idle", dedupe_key=says(5, "hook").dedupe_key)
    known = told(before, [doubled, says(4, "hook", "idle"), says(6, "telepathy", "idle")], DEFAULT)
    assert known.dropped == {"duplicate": 1, "late_event": 1, "source_inadmissible": 1}
    assert known.ledgers == before.ledgers


def test_of_an_agent_that_ended_only_the_tombstone_is_left() -> None:
    known = knowing(says(1, "hook", "running"), says(2, "process", kind="exited"))
    assert (known.ledgers, states(known, at(3), DEFAULT)) == ({}, [])
    assert [stone.runtime for stone in known.roster.tombstones] == [ONE]
    assert tell(known, says(3, "hook", "running"), DEFAULT).dropped == {"late_event": 1}


def test_a_pane_that_closes_ends_its_agent() -> None:
    assert states(knowing(PaneClosed(at=at(2), pane=PaneId(7))), at(3), DEFAULT) == []


def test_the_next_agent_in_the_same_place_starts_with_nothing() -> None:
    newcomer = began(10, runtime(2, mux_pane="%5", generation=1))
    known = knowing(says(1, "hook", "error"), newcomer, says(11, "hook", "error", runtime=ONE))
    assert state_of(known, RuntimeId(2), at(12), DEFAULT).reason == "no_signal"
    assert known.dropped == {"late_event": 1}


def test_a_gap_in_one_pane_is_not_one_in_another() -> None:
    other = began(0, runtime(2, mux_pane="%6"))
    theirs = says(1, "osc", "running", runtime=RuntimeId(2))
    known = knowing(other, says(1, "osc", "running"), theirs, PaneMissed(at=at(2), pane=PaneId(7)))
    assert [one.reason for one in states(known, at(3), DEFAULT)] == ["gap", None]


def test_who_waited_is_heard_when_its_session_is_shown():
    waiting = says(
        1, "transcript", "error", runtime=None, hint=Hint(cwd="/home/ada/src", is_doubtful=True), session="a"
    )
    known = knowing(waiting)
    assert len(known.pending) == 1
    known = tell(known, says(2, "registry", "idle", session="a"), DEFAULT)
    assert not known.pending
    assert seen(known, 3).value == "error"
