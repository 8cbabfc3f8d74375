"""Laws of knowing: what is live is what the store says, whoever is killed when, and whatever has aged away."""

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
    match draw(st.sampled_from(["says", "says", "says", "hints", "began", "ended", "closed", "missed", "reached"])):
        case "says":
            return build_signal(at, state, runtime=RuntimeId(number), session=draw(st.sampled_from(["", "a", "b"])))
        case "hints":
            about = {"mux_pane": hint.runtime.place.mux_pane, "pid": hint.runtime.pid}
            return build_signal(
                at, state, runtime=None, source="hook", hint=ProcessHint(**about), payload={"model": "toy-2"}
            )
        case "began":
            return hint
        case "ended":
            return AgentExited(at=at, runtime=RuntimeId(number))
        case "closed":
            return PaneClosed(at=at, pane=PaneId(1 + number % 2))
        case "missed":
            return OutputMissed(at=at, pane=PaneId(1 + number % 2))
        case _:
            return TargetReachability(at=at, target=LOCAL, is_reachable=draw(st.booleans()))


def once(story: list[Fact]) -> list[Fact]:
    """Numbers are never given twice: whoever ended does not begin again."""
    kept: list[Fact] = []
    for fact in story:
        is_again = isinstance(fact, AgentStarted) and any(
            isinstance(one, AgentStarted) and one.runtime.id == fact.runtime.id for one in kept
        )
        kept += [] if is_again else [fact]
    return kept


stories = st.lists(facts(), max_size=14).map(once)


async def moved_in(house: TrackerScene) -> TrackerScene:
    for name in map(MuxPaneId, ("%1", "%2")):
        await house.store.panes.find_or_add(PaneInstance(SERVER, name), PaneFacts(mux_id=name, pid=7), house.now())
    return house


async def replayed(story: list[Fact], kills: set[int], *, copy_after: int, ages: bool) -> None:
    """Told in order, killed here and there, with copies and with facts that age away: nothing shows in the end."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(tracker, "_FACTS_PER_SNAPSHOT", copy_after):
        async with open_tracker_scene(f"{folder}/visor.db") as house:
            await moved_in(house)
            for number, fact in enumerate(story):
                await house.submit(fact)
                if ages:
                    async for _ in house.store.maintenance.delete_older_rows(1 << 62, SIGNAL_TABLES):
                        pass
                if number in kills:
                    await house.restart()
            live = [fact for _, fact in _numbered(story)]
            assert house.tracker.state.knowledge == apply_facts(AgentKnowledge(), live, THRESHOLDS)
            assert set(house.tracker.state.projections) == set(house.tracker.state.knowledge.roster.agents)
            open_sessions = {one.runtime: one for one in await house.store.sessions.list_open()}
            assert open_sessions == house.tracker.state.sessions.open_sessions
            assert set(open_sessions) == set(house.tracker.state.projections)


def shown(standing: TrackerState) -> dict[RuntimeId, tuple]:
    """The published states, without which of two equal words is named as evidence."""
    told = {number: one.state for number, one in standing.projections.items()}
    return {number: (one.value, one.reason, one.source, one.since, one.flags) for number, one in told.items()}


def _numbered(story: list[Fact]) -> list[tuple[int, Fact]]:
    """The facts as they are stored: a signal has the number of its fact."""
    outcome: TrackingOutcome = compute_transition(TrackerState(), story, NOON, build_config())
    return list(outcome.batch.facts)


@build_settings(25)
@given(stories, st.sets(st.integers(0, 13)), st.sampled_from([2, 5, 1000]), st.booleans())
def test_live_is_what_is_read_again_wherever_it_was_killed(
    story: list[Fact], kills: set[int], copy_after: int, ages: bool
) -> None:
    asyncio.run(replayed(story, kills, copy_after=copy_after, ages=ages))


@given(stories, st.integers(0, 14))
def test_how_facts_are_bundled_into_turns_does_not_matter(story: list[Fact], cut: int) -> None:
    whole = compute_transition(TrackerState(), story, NOON, build_config()).state
    first = compute_transition(TrackerState(), story[:cut], NOON, build_config()).state
    both = compute_transition(first, story[cut:], NOON, build_config()).state
    assert (both.knowledge, both.sessions, both.last_fact) == (whole.knowledge, whole.sessions, whole.last_fact)
    assert shown(both) == shown(whole)


@given(stories)
def test_every_runtime_that_lived_has_its_sessions_and_a_last_word(story: list[Fact]) -> None:
    outcome = compute_transition(TrackerState(), story, NOON, build_config())
    seen = {change.after.runtime for change in outcome.changes}
    assert {one.runtime for one in outcome.batch.sessions} == seen
    over = {one.after.runtime for one in outcome.changes if one.after.presence == "unmanaged"}
    assert over == seen - set(outcome.state.projections)
