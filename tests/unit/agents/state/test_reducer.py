"""All facts together: pending, dropped and applied signals."""

import pytest

from termvisor.agents.state.flags_and_subtasks import Subtasks
from termvisor.agents.state.published_state import compute_state, list_states
from termvisor.agents.state.reducer import AgentKnowledge, apply_fact, apply_facts
from termvisor.agents.state.signal_binding import AgentRoster
from termvisor.agents.state.source_slots import SourceSlot, SourceSlots
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentExited, OutputMissed, PaneClosed
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    ONE,
    build_agent_process,
    build_agent_started,
    build_knowledge,
    build_signal,
    compute_state_at,
    to_ns,
)

HINT = ProcessHint(mux_pane=MuxPaneId("%5"))


def build_unbound_signal(seconds: float, state="running", **fields):
    return build_signal(seconds, "hook", state, runtime=None, hint=HINT, **fields)


def test_a_signal_is_pending_until_its_agent_process_is_known() -> None:
    early = apply_fact(AgentKnowledge(), build_unbound_signal(5), DEFAULT_THRESHOLDS)
    assert (len(early.pending), early.source_slots, early.dropped) == (1, {}, {})
    known = apply_fact(early, build_agent_started(0), DEFAULT_THRESHOLDS)
    assert (known.pending, compute_state_at(known, 6).value) == ((), "running")


def test_a_signal_before_the_process_start_is_not_bound() -> None:
    known = apply_facts(AgentKnowledge(), [build_unbound_signal(5), build_agent_started(6)], DEFAULT_THRESHOLDS)
    assert (known.pending, known.dropped, compute_state_at(known, 7).value) == ((), {"late_event": 1}, "unknown")


def test_a_pending_signal_is_dropped_after_ten_seconds() -> None:
    waiting = apply_fact(AgentKnowledge(), build_unbound_signal(5), DEFAULT_THRESHOLDS)
    assert apply_fact(waiting, AgentExited(at=to_ns(15), runtime=RuntimeId(9)), DEFAULT_THRESHOLDS).dropped == {}
    assert apply_fact(waiting, AgentExited(at=to_ns(15.1), runtime=RuntimeId(9)), DEFAULT_THRESHOLDS).dropped == {
        "dropped_unbound": 1
    }


def test_a_signal_that_matches_two_processes_is_not_bound() -> None:
    hint = ProcessHint(cwd="/home/ada/src")
    twins = [
        build_agent_started(0),
        build_agent_started(0, build_agent_process(2, mux_pane="%6")),
        build_signal(1, "hook", "running", runtime=None, hint=hint),
    ]
    known = apply_facts(AgentKnowledge(), [*twins, build_signal(20, "hook")], DEFAULT_THRESHOLDS)
    assert known.dropped == {"binding_conflict": 1}
    assert list_states(known, to_ns(20), DEFAULT_THRESHOLDS)[1].value == "unknown"


def test_pending_signals_are_bounded() -> None:
    few = Thresholds(max_pending_signals=2)
    known = apply_facts(AgentKnowledge(), [build_unbound_signal(one) for one in (1, 2, 3)], few)
    assert (len(known.pending), known.dropped) == (2, {"dropped_unbound": 1})


def test_dropped_signals_are_counted_and_change_nothing() -> None:
    before = build_knowledge(build_signal(5, "hook", "running"))
    doubled = build_signal(6, "hook", "idle", dedupe_key=build_signal(5, "hook").dedupe_key)
    known = apply_facts(
        before, [doubled, build_signal(4, "hook", "idle"), build_signal(6, "telepathy", "idle")], DEFAULT_THRESHOLDS
    )
    assert known.dropped == {"duplicate": 1, "late_event": 1, "source_inadmissible": 1}
    assert known.source_slots == before.source_slots


def test_a_note_without_a_time_of_its_own_makes_no_earlier_report_late() -> None:
    """A transcript has lines without a time, such as titles, between lines that have one."""
    title = build_signal(6, "transcript", kind="note", title="Fix it")
    failed = build_signal(6.2, "transcript", "error", event_at=to_ns(5.9))
    known = build_knowledge(build_signal(5, "transcript", "running"), title, failed)
    assert (compute_state_at(known, 7).value, known.dropped) == ("error", {})
    late = build_signal(6.3, "transcript", "running", event_at=to_ns(5.8))
    assert apply_fact(known, late, DEFAULT_THRESHOLDS).dropped == {"late_event": 1}


def test_only_the_tombstone_of_an_exited_agent_remains() -> None:
    known = build_knowledge(build_signal(1, "hook", "running"), build_signal(2, "process", kind="exited"))
    assert (known.source_slots, list_states(known, to_ns(3), DEFAULT_THRESHOLDS)) == ({}, [])
    assert [stone.runtime for stone in known.roster.tombstones] == [ONE]
    assert apply_fact(known, build_signal(3, "hook", "running"), DEFAULT_THRESHOLDS).dropped == {"late_event": 1}


def test_a_pane_that_closes_ends_its_agent() -> None:
    assert list_states(build_knowledge(PaneClosed(at=to_ns(2), pane=PaneId(7))), to_ns(3), DEFAULT_THRESHOLDS) == []


def test_the_next_agent_in_the_same_pane_starts_empty() -> None:
    newcomer = build_agent_started(10, build_agent_process(2, mux_pane="%5", generation=1))
    known = build_knowledge(build_signal(1, "hook", "error"), newcomer, build_signal(11, "hook", "error", runtime=ONE))
    assert compute_state(known, RuntimeId(2), to_ns(12), DEFAULT_THRESHOLDS).reason == "no_signal"
    assert known.dropped == {"late_event": 1}


def test_a_gap_affects_one_pane_only() -> None:
    other = build_agent_started(0, build_agent_process(2, mux_pane="%6"))
    theirs = build_signal(1, "osc", "running", runtime=RuntimeId(2))
    known = build_knowledge(other, build_signal(1, "osc", "running"), theirs, OutputMissed(at=to_ns(2), pane=PaneId(7)))
    assert [one.reason for one in list_states(known, to_ns(3), DEFAULT_THRESHOLDS)] == ["gap", None]


def test_a_pending_signal_is_bound_when_its_session_is_reported():
    waiting = build_signal(
        1, "transcript", "error", runtime=None, hint=ProcessHint(cwd="/home/ada/src", is_doubtful=True), session="a"
    )
    known = build_knowledge(waiting)
    assert len(known.pending) == 1
    known = apply_fact(known, build_signal(2, "registry", "idle", session="a"), DEFAULT_THRESHOLDS)
    assert not known.pending
    assert compute_state_at(known, 3).value == "error"


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (AgentKnowledge, ("roster", "ledgers", "pending", "unreachable", "dropped")),
        (AgentRoster, ("tenants", "tombstones", "doubts")),
        (SourceSlots, ("slots", "missed_at")),
        (
            SourceSlot,
            ("cursor", "memory", "heard_at", "is_down", "said", "before", "look", "flags", "tasks", "title", "misses",
             "rule", "captures"),
        ),
        (Subtasks, ("told", "listed_at", "has_spoken")),
    ],
)  # fmt: skip
def test_stored_snapshots_keep_their_field_names(kind, names) -> None:
    assert kind.__struct_encode_fields__ == names
