"""Facts in their order, with what followed from them, whole or not at all."""

import msgspec
import pytest

from termvisor.errors import Broken
from termvisor.model.agent.agent_process import PaneClosed, PaneMissed, RuntimeEnded, TargetReached
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import FlagsTold, Hint
from termvisor.model.agent.state import AgentState, Projection
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId, SignalId
from termvisor.model.terminal.target import LOCAL
from termvisor.store.maintenance.retention import SIGNALS
from termvisor.store.tables.agent_facts import Copy, Published, Turn, decoded, encoded, instant
from tests.unit.agents.tracking.house import ONE, began, says

FACTS = [
    began(100),
    says(200, "running", payload={"model": "toy"}, flags=FlagsTold(usage_limited=True), hint=Hint(pid=5)),
    says(300, None, kind="task_began", task="t", tasks=("t",)),
    RuntimeEnded(at=400, runtime=ONE),
    PaneClosed(at=500, pane=PaneId(7)),
    PaneMissed(at=600, pane=PaneId(7)),
    TargetReached(at=700, target=LOCAL.name, is_reachable=False),
]


def published(pane: PaneId, version: int = 1, ended_at: int | None = None) -> Published:
    state = AgentState(runtime=ONE, pane=pane, agent="toy", reason="no_signal")
    return Published(projection=Projection(version=version, state=state), began_at=100, ended_at=ended_at)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: type(fact).__name__)
def test_every_kind_of_fact_comes_back_as_it_was(fact):
    back = decoded(9, encoded(fact))
    assert msgspec.structs.replace(back, id=SignalId(0)) == fact if hasattr(fact, "id") else back == fact
    assert instant(back) == instant(fact)


def test_what_is_as_usual_takes_no_room():
    assert len(encoded(says(300, None, kind="heartbeat"))) < 150


def test_a_fact_of_a_later_version_is_told_and_left_out(caplog):
    assert decoded(9, msgspec.msgpack.encode({"type": "Dreamt", "at": 1})) is None
    assert "fact 9 cannot be read" in caplog.text


async def test_facts_come_back_in_their_order_with_their_numbers(store):
    await store.facts.add(Turn(facts=[*enumerate(FACTS, 1)]))
    found = await store.facts.after(0)
    assert [number for number, _ in found] == [1, 2, 3, 4, 5, 6, 7]
    assert (found[1][1].id, found[1][1].state) == (2, "running")
    assert await store.facts.after(7) == []
    assert list(await store.facts.signals([SignalId(2), SignalId(4), SignalId(99)])) == [2]


async def test_a_turn_is_stored_whole_with_states_sessions_and_events(store, new_pane):
    pane = await new_pane()
    session = AgentSession(id=1, runtime=ONE, pane=pane, agent="toy", started_at=100)
    turn = Turn(
        facts=[(1, FACTS[0])],
        states=[published(pane)],
        sessions=[session],
        events=[Event(at=100, kind="agent_began", pane=pane)],
        marks={"hook": (1, 20)},
        copy=Copy(fact=1, at=100, value={"known": 1}),
    )
    (event,) = await store.facts.add(turn)
    kept = await store.facts.kept()
    assert (kept.last_fact, kept.last_runtime, kept.last_session, kept.copied) == (1, 1, 1, 1)
    assert (kept.states, kept.marks) == ((published(pane).projection,), {"hook": (1, 20)})
    assert msgspec.msgpack.decode(kept.copy) == {"known": 1}
    assert [one.id for one in await store.events.list(kind="agent_began")] == [event.id]
    assert await store.sessions.open() == [session]


async def test_a_turn_that_fails_leaves_nothing(store, new_pane):
    await new_pane()
    with pytest.raises(Broken):
        await store.facts.add(Turn(facts=[(1, FACTS[0])], states=[published(PaneId(99))]))
    kept = await store.facts.kept()
    assert (kept.last_fact, await store.facts.after(0)) == (0, [])


async def test_a_number_that_was_given_is_never_taken_for_another_fact(store):
    await store.facts.add(Turn(facts=[(1, FACTS[0])]))
    with pytest.raises(Broken):
        await store.facts.add(Turn(facts=[(1, FACTS[1])]))


async def test_an_ended_runtime_is_kept_as_history_and_its_number_too(store, new_pane):
    pane = await new_pane()
    await store.facts.add(Turn(states=[published(pane)]))
    await store.facts.add(Turn(states=[published(pane, version=2, ended_at=500)]))
    kept = await store.facts.kept()
    assert (kept.states, kept.last_runtime) == ((), RuntimeId(1))


async def test_facts_age_only_up_to_the_copy(store):
    await store.facts.add(Turn(facts=[*enumerate(FACTS, 1)], copy=Copy(fact=4, at=500, value=None)))
    deleted = [count async for _, count in store.keeping.delete_older(1 << 60, SIGNALS)]
    assert sum(deleted) == 4
    assert [number for number, _ in await store.facts.after(0)] == [5, 6, 7]
    assert (await store.facts.kept()).last_fact == 7


async def test_without_a_copy_nothing_ages(store):
    await store.facts.add(Turn(facts=[*enumerate(FACTS, 1)]))
    assert sum([count async for _, count in store.keeping.delete_older(1 << 60, SIGNALS)]) == 0
