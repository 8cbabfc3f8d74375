"""A signal must match exactly one running agent process, and not an exited one."""

import pytest

from termvisor.agents.state.signal_binding import (
    AgentRoster,
    UnboundSignal,
    add_agent,
    add_session,
    add_unattributed_session,
    bind_signal,
    is_ambiguous,
    remove_agent,
    remove_pane,
)
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import build_agent_process, build_signal, to_ns

PANE = MuxPaneId("%5")
NO_MATCH, CONFLICT = UnboundSignal("dropped_unbound"), UnboundSignal("binding_conflict")


def build_roster(*runtimes) -> AgentRoster:
    roster = AgentRoster()
    for one in runtimes:
        roster = add_agent(roster, one, one.started_at, DEFAULT_THRESHOLDS)
    return roster


def build_hinted_signal(seconds: float = 1, session: str = "", agent: str = "claude_code", **hint):
    return build_signal(
        seconds, "hook", "running", runtime=None, hint=ProcessHint(**hint), session=session, agent=agent
    )


TWO = build_roster(build_agent_process(1), build_agent_process(2, mux_pane="%6"))


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        (build_hinted_signal(mux_pane=PANE), 1),
        (build_hinted_signal(mux_pane=MuxPaneId("%6")), 2),
        (build_hinted_signal(pid=102), 2),
        (build_hinted_signal(pid=101, pid_started=5001), 1),
        (build_hinted_signal(mux_pane=PANE, pid=101, cwd="/home/ada/src"), 1),
        (build_hinted_signal(), NO_MATCH),
        (build_hinted_signal(mux_pane=MuxPaneId("%9")), NO_MATCH),
        (build_hinted_signal(mux_pane=PANE, pid=102), NO_MATCH),
        (build_hinted_signal(pid=101, pid_started=4), NO_MATCH),
        (build_hinted_signal(mux_pane=PANE, socket="/tmp/other"), NO_MATCH),
        (build_hinted_signal(mux_pane=PANE, target=TargetName("elsewhere")), NO_MATCH),
        (build_hinted_signal(mux_pane=PANE, agent="codex"), NO_MATCH),
        (build_hinted_signal(cwd="/home/ada/src"), CONFLICT),
        (build_signal(1, "hook", runtime=RuntimeId(2)), 2),
        (build_signal(1, "hook", runtime=RuntimeId(9)), "runtime_mismatch"),
    ],
)
def test_a_signal_is_bound_to_the_matching_process(signal, expected) -> None:
    assert bind_signal(TWO, signal, DEFAULT_THRESHOLDS) == expected


def test_a_shared_source_counts_only_for_reported_sessions() -> None:
    def build_transcript_signal(session: str):
        hint = ProcessHint(cwd="/home/ada/src")
        return build_signal(1, "transcript", "running", runtime=None, hint=hint, session=session, agent="claude_code")

    both = add_session(add_session(TWO, RuntimeId(1), "mine"), RuntimeId(2), "yours")
    assert [
        bind_signal(both, build_transcript_signal(session), DEFAULT_THRESHOLDS)
        for session in ("mine", "yours", "unknown")
    ] == [
        1,
        2,
        NO_MATCH,
    ]
    assert (
        bind_signal(build_roster(build_agent_process(1)), build_transcript_signal("unreported"), DEFAULT_THRESHOLDS)
        == 1
    )


def test_signals_of_an_exited_process_are_late() -> None:
    roster = remove_agent(TWO, RuntimeId(1), to_ns(5), DEFAULT_THRESHOLDS)
    assert bind_signal(roster, build_signal(6, "hook", "running"), DEFAULT_THRESHOLDS) == "late_event"
    assert remove_agent(roster, RuntimeId(1), to_ns(6), DEFAULT_THRESHOLDS) == roster


def test_a_new_process_ends_the_previous_one_in_its_pane() -> None:
    again = add_agent(TWO, build_agent_process(3, pane=PaneId(7), started_at=to_ns(9)), to_ns(9), DEFAULT_THRESHOLDS)
    assert sorted(again.agents) == [2, 3]
    assert [stone.runtime for stone in again.tombstones] == [1]


def test_closing_a_pane_removes_its_process() -> None:
    assert sorted(remove_pane(TWO, PaneId(7), to_ns(9), DEFAULT_THRESHOLDS).agents) == [2]


NEWCOMER = build_agent_process(3, started_at=to_ns(10))


def build_roster_after_exit() -> AgentRoster:
    """Build a roster: in pane %5 runtime 1 with session `old` ended at 9, runtime 3 began at 10."""
    first = add_session(build_roster(build_agent_process(1)), RuntimeId(1), "old")
    return add_agent(
        remove_agent(first, RuntimeId(1), to_ns(9), DEFAULT_THRESHOLDS), NEWCOMER, to_ns(10), DEFAULT_THRESHOLDS
    )


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        (build_hinted_signal(11, mux_pane=PANE, pid=103), 3),
        (build_hinted_signal(11, mux_pane=PANE, session="new"), 3),
        (build_hinted_signal(11, mux_pane=PANE, session="old", pid=103, pid_started=5003), 3),
        (build_hinted_signal(11, mux_pane=PANE, pid=101), NO_MATCH),
        (build_hinted_signal(11, mux_pane=PANE, session="old"), "runtime_mismatch"),
        (build_hinted_signal(11, mux_pane=PANE), "runtime_mismatch"),
        (build_hinted_signal(8, mux_pane=PANE, session="new"), "late_event"),
        (build_hinted_signal(9.9, pid=103, pid_started=5003), 3),
        (build_hinted_signal(9.9, pid=103), "late_event"),
        (build_hinted_signal(9.9, mux_pane=PANE, pid_started=5003), "late_event"),
        (build_hinted_signal(129, mux_pane=PANE), "runtime_mismatch"),
        (build_hinted_signal(130, mux_pane=PANE), 3),
    ],
)
def test_late_signals_of_an_exited_process_are_not_bound_to_the_next(signal, expected) -> None:
    assert bind_signal(build_roster_after_exit(), signal, DEFAULT_THRESHOLDS) == expected


def test_a_reported_session_belongs_to_the_new_process() -> None:
    roster = add_session(build_roster_after_exit(), RuntimeId(3), "old")
    assert bind_signal(roster, build_hinted_signal(11, mux_pane=PANE, session="old"), DEFAULT_THRESHOLDS) == 3


def test_tombstones_expire() -> None:
    roster = AgentRoster()
    for number in range(50):
        one = build_agent_process(number, started_at=to_ns(number * 60))
        roster = remove_agent(
            add_agent(roster, one, one.started_at, DEFAULT_THRESHOLDS),
            one.id,
            to_ns(number * 60 + 30),
            DEFAULT_THRESHOLDS,
        )
    assert [stone.runtime for stone in roster.tombstones] == [47, 48, 49]


def build_folder_signal(session: str, source: str = "rollout", **hint):
    hint_fields = {"cwd": "/home/ada/src"} | hint
    return build_signal(
        1, source, "running", runtime=None, hint=ProcessHint(**hint_fields), session=session, agent="codex"
    )


CODEX = build_roster(build_agent_process(1, agent="codex"))


def test_a_folder_is_proof_only_with_a_single_agent():
    assert bind_signal(CODEX, build_folder_signal("t1"), DEFAULT_THRESHOLDS) == 1
    assert bind_signal(CODEX, build_folder_signal("t1", is_doubtful=True), DEFAULT_THRESHOLDS) == CONFLICT
    assert (
        bind_signal(
            add_session(CODEX, RuntimeId(1), "t1"), build_folder_signal("t1", is_doubtful=True), DEFAULT_THRESHOLDS
        )
        == 1
    )


def test_an_unattributed_session_stays_so_after_others_left():
    roster = add_unattributed_session(CODEX, build_folder_signal("t1", is_doubtful=True))
    assert bind_signal(roster, build_folder_signal("t1"), DEFAULT_THRESHOLDS) == CONFLICT
    assert bind_signal(roster, build_folder_signal("t2"), DEFAULT_THRESHOLDS) == 1
    assert bind_signal(add_session(roster, RuntimeId(1), "t1"), build_folder_signal("t1"), DEFAULT_THRESHOLDS) == 1
    assert add_unattributed_session(roster, build_folder_signal("t1", is_doubtful=True)) is roster
    assert add_unattributed_session(roster, build_folder_signal("", is_doubtful=True)) is roster


def test_an_unattributed_session_makes_an_agent_ambiguous_until_reported():
    one, late = (
        build_agent_process(1, agent="codex"),
        build_agent_process(2, agent="codex", mux_pane="%6", started_at=to_ns(500)),
    )
    two = add_unattributed_session(build_roster(one, late), build_folder_signal("t1", is_doubtful=True))
    assert is_ambiguous(two, one)
    assert not is_ambiguous(two, late)
    for other in (build_agent_process(3, agent="codex", cwd="/else"), build_agent_process(4, agent="claude_code")):
        assert not is_ambiguous(two, other)
    assert not is_ambiguous(add_session(two, RuntimeId(2), "t1"), one)


def test_a_reported_session_is_proof_enough():
    signal = build_signal(1, "rollout", runtime=None, hint=ProcessHint(), session="t1", agent="codex")
    assert bind_signal(CODEX, signal, DEFAULT_THRESHOLDS) == NO_MATCH
    assert bind_signal(add_session(CODEX, RuntimeId(1), "t1"), signal, DEFAULT_THRESHOLDS) == 1
    assert bind_signal(add_session(CODEX, RuntimeId(1), "t2"), signal, DEFAULT_THRESHOLDS) == NO_MATCH


def test_the_delivering_process_owns_the_signal():
    two = build_roster(build_agent_process(1, agent="codex"), build_agent_process(2, agent="codex", mux_pane="%6"))
    assert bind_signal(two, build_folder_signal("t9", "hook", via=102, is_doubtful=True), DEFAULT_THRESHOLDS) == 2
    assert bind_signal(two, build_folder_signal("t9", "hook", via=999), DEFAULT_THRESHOLDS) == CONFLICT


def test_of_two_processes_in_a_folder_the_one_with_the_session_owns_it():
    two = build_roster(build_agent_process(1, agent="codex"), build_agent_process(2, agent="codex", mux_pane="%6"))
    assert bind_signal(add_session(two, RuntimeId(2), "t2"), build_folder_signal("t2"), DEFAULT_THRESHOLDS) == 2


def test_another_session_in_the_folder_is_not_bound():
    assert (
        bind_signal(add_session(CODEX, RuntimeId(1), "t1"), build_folder_signal("t2"), DEFAULT_THRESHOLDS) == NO_MATCH
    )


def test_a_process_at_the_same_place_or_in_the_same_pane_ends_the_other() -> None:
    same_place = build_agent_process(3, pane=PaneId(99), mux_pane="%5")
    same_pane = build_agent_process(3, pane=PaneId(7), mux_pane="%99")
    elsewhere = build_agent_process(3, pane=PaneId(99), mux_pane="%99")
    for newcomer, left in ((same_place, [2, 3]), (same_pane, [2, 3]), (elsewhere, [1, 2, 3])):
        assert sorted(add_agent(TWO, newcomer, to_ns(9), DEFAULT_THRESHOLDS).agents) == left


def test_a_session_is_recorded_once() -> None:
    once = add_session(TWO, RuntimeId(1), "s")
    assert once.agents[RuntimeId(1)].sessions == ("s",)
    assert add_session(once, RuntimeId(1), "s") is once
    assert add_session(once, RuntimeId(1), "") is once


def test_a_source_that_is_not_declared_is_not_shared() -> None:
    known = add_session(CODEX, RuntimeId(1), "t1")
    assert bind_signal(known, build_folder_signal("t2", "undeclared"), DEFAULT_THRESHOLDS) == 1
