"""Laws of knowing: what is live is what the store says, whoever is killed when, and whatever has aged away."""

import asyncio
import tempfile
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.state.reducer import Knowledge, told
from termvisor.agents.tracking import tracker as knowing
from termvisor.agents.tracking.transition import Outcome, Standing, take_turn
from termvisor.clock import NS
from termvisor.model.agent.agent_process import Fact, PaneClosed, PaneMissed, RuntimeBegan, RuntimeEnded, TargetReached
from termvisor.model.agent.signal import Hint
from termvisor.model.agent.state import PRECEDENCE
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.store.maintenance.retention import SIGNALS
from termvisor.testing.world import NOON
from tests.fuzz.effort import examples
from tests.unit.agents.tracking.house import MEASURE, House, began, opened, says, terms

LOCAL = TargetName("local")
SERVER = ServerInstance(LOCAL, "/tmp/tmux-1/default", 100, 5000)
instants = st.integers(0, 200).map(lambda second: NOON - 200 * NS + second * NS)
runtimes = st.integers(1, 3)


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    at, number = draw(instants), draw(runtimes)
    state = draw(st.sampled_from(PRECEDENCE[:-1]))
    hint = began(at, number, pane=1 + number % 2)
    match draw(st.sampled_from(["says", "says", "says", "hints", "began", "ended", "closed", "missed", "reached"])):
        case "says":
            return says(at, state, runtime=RuntimeId(number), session=draw(st.sampled_from(["", "a", "b"])))
        case "hints":
            about = {"mux_pane": hint.runtime.place.mux_pane, "pid": hint.runtime.pid}
            return says(at, state, runtime=None, source="hook", hint=Hint(**about), payload={"model": "toy-2"})
        case "began":
            return hint
        case "ended":
            return RuntimeEnded(at=at, runtime=RuntimeId(number))
        case "closed":
            return PaneClosed(at=at, pane=PaneId(1 + number % 2))
        case "missed":
            return PaneMissed(at=at, pane=PaneId(1 + number % 2))
        case _:
            return TargetReached(at=at, target=LOCAL, is_reachable=draw(st.booleans()))


def once(story: list[Fact]) -> list[Fact]:
    """Numbers are never given twice: whoever ended does not begin again."""
    kept: list[Fact] = []
    for fact in story:
        is_again = isinstance(fact, RuntimeBegan) and any(
            isinstance(one, RuntimeBegan) and one.runtime.id == fact.runtime.id for one in kept
        )
        kept += [] if is_again else [fact]
    return kept


stories = st.lists(facts(), max_size=14).map(once)


async def moved_in(house: House) -> House:
    for name in map(MuxPaneId, ("%1", "%2")):
        await house.store.panes.recognise(PaneInstance(SERVER, name), PaneFacts(mux_id=name, pid=7), house.now())
    return house


async def replayed(story: list[Fact], kills: set[int], *, copy_after: int, ages: bool) -> None:
    """Told in order, killed here and there, with copies and with facts that age away: nothing shows in the end."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(knowing, "_COPY_AFTER", copy_after):
        async with opened(f"{folder}/visor.db") as house:
            await moved_in(house)
            for number, fact in enumerate(story):
                await house.tell(fact)
                if ages:
                    async for _ in house.store.keeping.delete_older(1 << 62, SIGNALS):
                        pass
                if number in kills:
                    await house.again()
            live = [fact for _, fact in _numbered(story)]
            assert house.knowing.standing.knowledge == told(Knowledge(), live, MEASURE)
            assert set(house.knowing.standing.projections) == set(house.knowing.standing.knowledge.roster.tenants)
            open_sessions = {one.runtime: one for one in await house.store.sessions.open()}
            assert open_sessions == house.knowing.standing.story.going_on
            assert set(open_sessions) == set(house.knowing.standing.projections)


def shown(standing: Standing) -> dict[RuntimeId, tuple]:
    """The published states, without which of two equal words is named as evidence."""
    told = {number: one.state for number, one in standing.projections.items()}
    return {number: (one.value, one.reason, one.source, one.since, one.flags) for number, one in told.items()}


def _numbered(story: list[Fact]) -> list[tuple[int, Fact]]:
    """The facts as they are stored: a signal has the number of its fact."""
    outcome: Outcome = take_turn(Standing(), story, NOON, terms())
    return list(outcome.turn.facts)


@examples(25)
@given(stories, st.sets(st.integers(0, 13)), st.sampled_from([2, 5, 1000]), st.booleans())
def test_live_is_what_is_read_again_wherever_it_was_killed(
    story: list[Fact], kills: set[int], copy_after: int, ages: bool
) -> None:
    asyncio.run(replayed(story, kills, copy_after=copy_after, ages=ages))


@given(stories, st.integers(0, 14))
def test_how_facts_are_bundled_into_turns_does_not_matter(story: list[Fact], cut: int) -> None:
    whole = take_turn(Standing(), story, NOON, terms()).standing
    first = take_turn(Standing(), story[:cut], NOON, terms()).standing
    both = take_turn(first, story[cut:], NOON, terms()).standing
    assert (both.knowledge, both.story, both.last_fact) == (whole.knowledge, whole.story, whole.last_fact)
    assert shown(both) == shown(whole)


@given(stories)
def test_every_runtime_that_lived_has_its_sessions_and_a_last_word(story: list[Fact]) -> None:
    outcome = take_turn(Standing(), story, NOON, terms())
    seen = {change.after.runtime for change in outcome.changes}
    assert {one.runtime for one in outcome.turn.sessions} == seen
    over = {one.after.runtime for one in outcome.changes if one.after.presence == "unmanaged"}
    assert over == seen - set(outcome.standing.projections)
