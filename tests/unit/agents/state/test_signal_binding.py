"""Whose signal it is: what it tells of its process must fit one living runtime, and must not be a dead one's."""

import pytest

from termvisor.agents.state.signal_binding import (
    Roster,
    Unbound,
    began,
    bind,
    closed,
    doubted,
    ended,
    is_ambiguous,
    showed,
)
from termvisor.model.agent.signal import Hint
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import at, runtime, says

PANE = MuxPaneId("%5")
NOBODY, SEVERAL = Unbound("dropped_unbound"), Unbound("binding_conflict")


def living(*runtimes) -> Roster:
    roster = Roster()
    for one in runtimes:
        roster = began(roster, one, one.started_at, DEFAULT)
    return roster


def hinting(seconds: float = 1, session: str = "", agent: str = "claude_code", **hint):
    return says(seconds, "hook", "running", runtime=None, hint=Hint(**hint), session=session, agent=agent)


TWO = living(runtime(1), runtime(2, mux_pane="%6"))


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        (hinting(mux_pane=PANE), 1),
        (hinting(mux_pane=MuxPaneId("%6")), 2),
        (hinting(pid=102), 2),
        (hinting(pid=101, pid_started=5001), 1),
        (hinting(mux_pane=PANE, pid=101, cwd="/home/ada/src"), 1),
        (hinting(), NOBODY),
        (hinting(mux_pane=MuxPaneId("%9")), NOBODY),
        (hinting(mux_pane=PANE, pid=102), NOBODY),
        (hinting(pid=101, pid_started=4), NOBODY),
        (hinting(mux_pane=PANE, socket="/tmp/other"), NOBODY),
        (hinting(mux_pane=PANE, target=TargetName("elsewhere")), NOBODY),
        (hinting(mux_pane=PANE, agent="codex"), NOBODY),
        (hinting(cwd="/home/ada/src"), SEVERAL),
        (says(1, "hook", runtime=RuntimeId(2)), 2),
        (says(1, "hook", runtime=RuntimeId(9)), "runtime_mismatch"),
    ],
)
def test_a_signal_belongs_to_the_one_it_fits(signal, expected) -> None:
    assert bind(TWO, signal, DEFAULT) == expected


def test_a_source_in_which_strangers_speak_is_heard_of_sessions_that_were_shown() -> None:
    def told(session: str):
        here = Hint(cwd="/home/ada/src")
        return says(1, "transcript", "running", runtime=None, hint=here, session=session, agent="claude_code")

    both = showed(showed(TWO, RuntimeId(1), "mine"), RuntimeId(2), "yours")
    assert [bind(both, told(session), DEFAULT) for session in ("mine", "yours", "a stranger's")] == [1, 2, NOBODY]
    assert bind(living(runtime(1)), told("nobody said yet"), DEFAULT) == 1


def test_a_runtime_that_ended_is_not_spoken_for() -> None:
    roster = ended(TWO, RuntimeId(1), at(5), DEFAULT)
    assert bind(roster, says(6, "hook", "running"), DEFAULT) == "late_event"
    assert ended(roster, RuntimeId(1), at(6), DEFAULT) == roster


def test_a_runtime_that_begins_ends_the_one_before_it_in_its_pane() -> None:
    again = began(TWO, runtime(3, pane=PaneId(7), started_at=at(9)), at(9), DEFAULT)
    assert sorted(again.tenants) == [2, 3]
    assert [stone.runtime for stone in again.tombstones] == [1]


def test_a_pane_takes_its_runtime_along() -> None:
    assert sorted(closed(TWO, PaneId(7), at(9), DEFAULT).tenants) == [2]


NEWCOMER = runtime(3, started_at=at(10))


def after_a_death() -> Roster:
    """In pane %5 runtime 1 with session `old` ended at 9, runtime 3 began at 10."""
    first = showed(living(runtime(1)), RuntimeId(1), "old")
    return began(ended(first, RuntimeId(1), at(9), DEFAULT), NEWCOMER, at(10), DEFAULT)


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        (hinting(11, mux_pane=PANE, pid=103), 3),
        (hinting(11, mux_pane=PANE, session="new"), 3),
        (hinting(11, mux_pane=PANE, session="old", pid=103, pid_started=5003), 3),
        (hinting(11, mux_pane=PANE, pid=101), NOBODY),
        (hinting(11, mux_pane=PANE, session="old"), "runtime_mismatch"),
        (hinting(11, mux_pane=PANE), "runtime_mismatch"),
        (hinting(8, mux_pane=PANE, session="new"), "late_event"),
        (hinting(9.9, pid=103, pid_started=5003), 3),
        (hinting(129, mux_pane=PANE), "runtime_mismatch"),
        (hinting(130, mux_pane=PANE), 3),
    ],
)
def test_late_words_of_the_dead_are_not_the_newcomers(signal, expected) -> None:
    assert bind(after_a_death(), signal, DEFAULT) == expected


def test_a_session_that_the_newcomer_has_shown_is_its_own() -> None:
    roster = showed(after_a_death(), RuntimeId(3), "old")
    assert bind(roster, hinting(11, mux_pane=PANE, session="old"), DEFAULT) == 3


def test_tombstones_do_not_pile_up() -> None:
    roster = Roster()
    for number in range(50):
        one = runtime(number, started_at=at(number * 60))
        roster = ended(began(roster, one, one.started_at, DEFAULT), one.id, at(number * 60 + 30), DEFAULT)
    assert [stone.runtime for stone in roster.tombstones] == [47, 48, 49]


def by_folder(session: str, source: str = "rollout", **hint):
    given = {"cwd": "/home/ada/src"} | hint
    return says(1, source, "running", runtime=None, hint=Hint(**given), session=session, agent="codex")


CODEX = living(runtime(1, agent="codex"))


def test_a_folder_proves_something_only_where_one_alone_works():
    assert bind(CODEX, by_folder("t1"), DEFAULT) == 1
    assert bind(CODEX, by_folder("t1", is_doubtful=True), DEFAULT) == SEVERAL
    assert bind(showed(CODEX, RuntimeId(1), "t1"), by_folder("t1", is_doubtful=True), DEFAULT) == 1


def test_a_session_that_was_doubted_is_nobodys_when_the_others_left():
    roster = doubted(CODEX, by_folder("t1", is_doubtful=True))
    assert bind(roster, by_folder("t1"), DEFAULT) == SEVERAL
    assert bind(roster, by_folder("t2"), DEFAULT) == 1
    assert bind(showed(roster, RuntimeId(1), "t1"), by_folder("t1"), DEFAULT) == 1
    assert doubted(roster, by_folder("t1", is_doubtful=True)) is roster
    assert doubted(roster, by_folder("", is_doubtful=True)) is roster


def test_a_session_that_may_be_its_own_makes_an_agent_ambiguous_until_somebody_shows_it():
    one, late = (runtime(1, agent="codex"), runtime(2, agent="codex", mux_pane="%6", started_at=at(500)))
    two = doubted(living(one, late), by_folder("t1", is_doubtful=True))
    assert is_ambiguous(two, one)
    assert not is_ambiguous(two, late)
    for other in (runtime(3, agent="codex", cwd="/else"), runtime(4, agent="claude_code")):
        assert not is_ambiguous(two, other)
    assert not is_ambiguous(showed(two, RuntimeId(2), "t1"), one)


def test_a_session_that_one_has_shown_needs_no_other_proof():
    told = says(1, "rollout", runtime=None, hint=Hint(), session="t1", agent="codex")
    assert bind(CODEX, told, DEFAULT) == NOBODY
    assert bind(showed(CODEX, RuntimeId(1), "t1"), told, DEFAULT) == 1
    assert bind(showed(CODEX, RuntimeId(1), "t2"), told, DEFAULT) == NOBODY


def test_who_hands_it_on_itself_owns_it_though_others_sit_there():
    two = living(runtime(1, agent="codex"), runtime(2, agent="codex", mux_pane="%6"))
    assert bind(two, by_folder("t9", "hook", via=102, is_doubtful=True), DEFAULT) == 2
    assert bind(two, by_folder("t9", "hook", via=999), DEFAULT) == SEVERAL


def test_of_two_in_a_folder_the_one_that_showed_the_session_owns_it():
    two = living(runtime(1, agent="codex"), runtime(2, agent="codex", mux_pane="%6"))
    assert bind(showed(two, RuntimeId(2), "t2"), by_folder("t2"), DEFAULT) == 2


def test_another_session_in_the_folder_is_not_taken_for_one_that_was_shown():
    assert bind(showed(CODEX, RuntimeId(1), "t1"), by_folder("t2"), DEFAULT) == NOBODY
