"""The agent tracker: restored state equals live state, despite restarts and deleted facts."""

import asyncio
import tempfile
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.state.reducer import AgentKnowledge, apply_facts
from termvisor.agents.tracking import tracker
from termvisor.agents.tracking.transition import TrackerState, TrackingOutcome, compute_transition
from termvisor.clock import NS
from termvisor.model.agent.agent_process import (
    AgentExited,
    AgentStarted,
    Fact,
    OutputMissed,
    PaneClosed,
    TargetReachability,
)
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.agent.state import PRECEDENCE
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.store.maintenance.retention import SIGNAL_TABLES
from termvisor.testing.fake_clock import NOON
from tests.fuzz.example_count import build_settings
from tests.unit.agents.tracking.tracker_scene import (
    THRESHOLDS,
    TrackerScene,
    build_agent_started,
    build_config,
    build_signal,
    open_tracker_scene,
)

LOCAL = TargetName("local")
SERVER = ServerInstance(LOCAL, "/tmp/tmux-1/default", 100, 5000)
instants = st.integers(0, 200).map(lambda second: NOON - 200 * NS + second * NS)
runtimes = st.integers(1, 3)


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    at, number = draw(instants), draw(runtimes)
    state = draw(st.sampled_from(PRECEDENCE[:-1]))
    hint = build_agent_started(at, number, pane=1 + number % 2)
    match draw(
        st.sampled_from(["signal", "signal", "signal", "hint", "started", "exited", "closed", "missed", "reachability"])
    ):
        case "signal":
            return build_signal(at, state, runtime=RuntimeId(number), session=draw(st.sampled_from(["", "a", "b"])))
        case "hint":
            about = {"mux_pane": hint.runtime.place.mux_pane, "pid": hint.runtime.pid}
            return build_signal(
                at, state, runtime=None, source="hook", hint=ProcessHint(**about), payload={"model": "toy-2"}
            )
        case "started":
            return hint
        case "exited":
            return AgentExited(at=at, runtime=RuntimeId(number))
        case "closed":
            return PaneClosed(at=at, pane=PaneId(1 + number % 2))
        case "missed":
            return OutputMissed(at=at, pane=PaneId(1 + number % 2))
        case _:
            return TargetReachability(at=at, target=LOCAL, is_reachable=draw(st.booleans()))


def drop_repeated_starts(facts_in_order: list[Fact]) -> list[Fact]:
    """Drop repeated starts: process ids are unique."""
    kept: list[Fact] = []
    for fact in facts_in_order:
        is_repeated = isinstance(fact, AgentStarted) and any(
            isinstance(one, AgentStarted) and one.runtime.id == fact.runtime.id for one in kept
        )
        kept += [] if is_repeated else [fact]
    return kept


fact_lists = st.lists(facts(), max_size=14).map(drop_repeated_starts)


async def add_panes(scene: TrackerScene) -> TrackerScene:
    for name in map(MuxPaneId, ("%1", "%2")):
        await scene.store.panes.find_or_add(PaneInstance(SERVER, name), PaneFacts(mux_id=name, pid=7), scene.now())
    return scene


async def check_replay(
    facts_in_order: list[Fact], restarts: set[int], *, facts_per_snapshot: int, has_retention: bool
) -> None:
    """Submit the facts with restarts, snapshots and deleted facts, and compare the result with the live state."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(tracker, "_FACTS_PER_SNAPSHOT", facts_per_snapshot):
        async with open_tracker_scene(f"{folder}/visor.db") as scene:
            await add_panes(scene)
            for number, fact in enumerate(facts_in_order):
                await scene.submit(fact)
                if has_retention:
                    async for _ in scene.store.maintenance.delete_older_rows(1 << 62, SIGNAL_TABLES):
                        pass
                if number in restarts:
                    await scene.restart()
            live = [fact for _, fact in _number_facts(facts_in_order)]
            assert scene.tracker.state.knowledge == apply_facts(AgentKnowledge(), live, THRESHOLDS)
            assert set(scene.tracker.state.projections) == set(scene.tracker.state.knowledge.roster.agents)
            open_sessions = {one.runtime: one for one in await scene.store.sessions.list_open()}
            assert open_sessions == scene.tracker.state.sessions.open_sessions
            assert set(open_sessions) == set(scene.tracker.state.projections)


def summarize_states(tracker_state: TrackerState) -> dict[RuntimeId, tuple]:
    """Return the published states without the choice between two equal signals as evidence."""
    states = {number: one.state for number, one in tracker_state.projections.items()}
    return {number: (one.value, one.reason, one.source, one.since, one.flags) for number, one in states.items()}


def _number_facts(facts_in_order: list[Fact]) -> list[tuple[int, Fact]]:
    """Return the facts as stored: a signal has the number of its fact."""
    outcome: TrackingOutcome = compute_transition(TrackerState(), facts_in_order, NOON, build_config())
    return list(outcome.batch.facts)


@build_settings(25)
@given(fact_lists, st.sets(st.integers(0, 13)), st.sampled_from([2, 5, 1000]), st.booleans())
def test_restored_tracker_state_equals_live_state_after_restarts(
    facts_in_order: list[Fact], restarts: set[int], facts_per_snapshot: int, has_retention: bool
) -> None:
    asyncio.run(
        check_replay(facts_in_order, restarts, facts_per_snapshot=facts_per_snapshot, has_retention=has_retention)
    )


@given(fact_lists, st.integers(0, 14))
def test_tracker_state_does_not_depend_on_how_facts_are_batched(facts_in_order: list[Fact], cut: int) -> None:
    whole = compute_transition(TrackerState(), facts_in_order, NOON, build_config()).state
    first = compute_transition(TrackerState(), facts_in_order[:cut], NOON, build_config()).state
    both = compute_transition(first, facts_in_order[cut:], NOON, build_config()).state
    assert (both.knowledge, both.sessions, both.last_fact) == (whole.knowledge, whole.sessions, whole.last_fact)
    assert summarize_states(both) == summarize_states(whole)


@given(fact_lists)
def test_every_agent_process_has_sessions_and_a_final_state(facts_in_order: list[Fact]) -> None:
    outcome = compute_transition(TrackerState(), facts_in_order, NOON, build_config())
    seen = {change.after.runtime for change in outcome.changes}
    assert {one.runtime for one in outcome.batch.sessions} == seen
    ended = {one.after.runtime for one in outcome.changes if one.after.presence == "unmanaged"}
    assert ended == seen - set(outcome.state.projections)
