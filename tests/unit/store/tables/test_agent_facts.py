"""Facts in order, stored in one transaction with the states, sessions and events computed from them."""

import msgspec
import pytest

from termvisor.errors import InternalError
from termvisor.model.agent.agent_process import AgentExited, OutputMissed, PaneClosed, TargetReachability
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import FlagUpdate, ProcessHint, ReadPosition
from termvisor.model.agent.state import AgentState, StateProjection
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId, SignalId
from termvisor.model.terminal.target import LOCAL
from termvisor.store.maintenance.retention import SIGNAL_TABLES
from termvisor.store.tables.agent_facts import (
    FactBatch,
    FactCheckpoint,
    PublishedState,
    StoredAgentState,
    decode_fact,
    encode_fact,
    get_fact_time,
)
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_signal

FACTS = [
    build_agent_started(100),
    build_signal(
        200, "running", payload={"model": "toy"}, flags=FlagUpdate(usage_limited=True), hint=ProcessHint(pid=5)
    ),
    build_signal(300, None, kind="task_began", task="t", tasks=("t",)),
    AgentExited(at=400, runtime=ONE),
    PaneClosed(at=500, pane=PaneId(7)),
    OutputMissed(at=600, pane=PaneId(7)),
    TargetReachability(at=700, target=LOCAL.name, is_reachable=False),
]


def build_agent_state(pane: PaneId, version: int = 1, ended_at: int | None = None) -> PublishedState:
    state = AgentState(runtime=ONE, pane=pane, agent="toy", reason="no_signal")
    return PublishedState(projection=StateProjection(version=version, state=state), began_at=100, ended_at=ended_at)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: type(fact).__name__)
def test_every_kind_of_fact_is_read_as_stored(fact):
    back = decode_fact(9, encode_fact(fact))
    assert msgspec.structs.replace(back, id=SignalId(0)) == fact if hasattr(fact, "id") else back == fact
    assert get_fact_time(back) == get_fact_time(fact)


def test_default_values_are_not_encoded():
    assert len(encode_fact(build_signal(300, None, kind="heartbeat"))) < 150


def test_fact_of_a_later_version_is_logged_and_skipped(caplog):
    assert decode_fact(9, msgspec.msgpack.encode({"type": "Dreamt", "at": 1})) is None
    assert "fact 9 cannot be read" in caplog.text


async def test_facts_are_read_in_order_with_their_ids(store):
    await store.agent_facts.add(FactBatch(facts=[*enumerate(FACTS, 1)]))
    found = await store.agent_facts.list_after(0)
    assert [number for number, _ in found] == [1, 2, 3, 4, 5, 6, 7]
    assert (found[1][1].id, found[1][1].state) == (2, "running")
    assert await store.agent_facts.list_after(7) == []
    assert list(await store.agent_facts.find_signals([SignalId(2), SignalId(4), SignalId(99)])) == [2]


async def test_batch_is_stored_with_states_sessions_and_events(store, new_pane):
    pane = await new_pane()
    session = AgentSession(id=1, runtime=ONE, pane=pane, agent="toy", started_at=100)
    turn = FactBatch(
        facts=[(1, FACTS[0])],
        states=[build_agent_state(pane)],
        sessions=[session],
        events=[Event(at=100, kind="agent_began", pane=pane)],
        marks={"hook": (1, 20)},
        copy=FactCheckpoint(fact=1, at=100, value={"known": 1}),
    )
    (event,) = await store.agent_facts.add(turn)
    kept = await store.agent_facts.load_state()
    assert (kept.last_fact, kept.last_runtime, kept.last_session, kept.checkpoint_fact) == (1, 1, 1, 1)
    assert (kept.states, kept.marks) == ((build_agent_state(pane).projection,), {"hook": (1, 20)})
    assert msgspec.msgpack.decode(kept.copy) == {"known": 1}
    assert [one.id for one in await store.events.list(kind="agent_began")] == [event.id]
    assert await store.sessions.list_open() == [session]


async def test_failed_batch_stores_nothing(store, new_pane):
    await new_pane()
    with pytest.raises(InternalError):
        await store.agent_facts.add(FactBatch(facts=[(1, FACTS[0])], states=[build_agent_state(PaneId(99))]))
    kept = await store.agent_facts.load_state()
    assert (kept.last_fact, await store.agent_facts.list_after(0)) == (0, [])


async def test_fact_ids_are_never_reused(store):
    await store.agent_facts.add(FactBatch(facts=[(1, FACTS[0])]))
    with pytest.raises(InternalError):
        await store.agent_facts.add(FactBatch(facts=[(1, FACTS[1])]))


async def test_ended_agent_process_and_its_id_are_kept(store, new_pane):
    pane = await new_pane()
    await store.agent_facts.add(FactBatch(states=[build_agent_state(pane)]))
    await store.agent_facts.add(FactBatch(states=[build_agent_state(pane, version=2, ended_at=500)]))
    kept = await store.agent_facts.load_state()
    assert (kept.states, kept.last_runtime) == ((), RuntimeId(1))


async def test_retention_deletes_facts_only_up_to_the_checkpoint(store):
    await store.agent_facts.add(
        FactBatch(facts=[*enumerate(FACTS, 1)], copy=FactCheckpoint(fact=4, at=500, value=None))
    )
    deleted = [count async for _, count in store.maintenance.delete_older_rows(1 << 60, SIGNAL_TABLES)]
    assert sum(deleted) == 4
    assert [number for number, _ in await store.agent_facts.list_after(0)] == [5, 6, 7]
    assert (await store.agent_facts.load_state()).last_fact == 7


async def test_without_a_checkpoint_no_fact_is_deleted(store):
    await store.agent_facts.add(FactBatch(facts=[*enumerate(FACTS, 1)]))
    assert sum([count async for _, count in store.maintenance.delete_older_rows(1 << 60, SIGNAL_TABLES)]) == 0


async def test_all_that_a_daemon_restores_is_stored(store, new_pane):
    pane = await new_pane()
    running = build_agent_state(pane)
    state = msgspec.structs.replace(running.projection.state, runtime=RuntimeId(2))
    projection = msgspec.structs.replace(running.projection, state=state)
    exited = PublishedState(projection=projection, began_at=50, ended_at=90)
    bookmark = ReadPosition(runtime=ONE, watch="notes", body=b"17")
    batch = FactBatch(facts=[(1, FACTS[0])], states=[running, exited], bookmarks=[bookmark], marks={"hook": (1, 2)})
    assert await store.agent_facts.add(batch) == []
    assert await store.agent_facts.load_state() == StoredAgentState(
        last_fact=1, last_runtime=2, marks={"hook": (1, 2)}, bookmarks=(bookmark,), states=(running.projection,),
        exited=(exited,),
    )  # fmt: skip
    await store.agent_facts.add(FactBatch(states=[build_agent_state(pane, version=2, ended_at=500)]))
    assert (await store.agent_facts.load_state()).bookmarks == ()


async def test_a_checkpoint_and_a_position_replace_the_previous_ones(store):
    for number in (1, 2):
        copy = FactCheckpoint(fact=number, at=number, value=number)
        await store.agent_facts.add(FactBatch(facts=[(number, FACTS[1])], marks={"hook": (0, number)}, copy=copy))
    assert await store.agent_facts.load_state() == StoredAgentState(
        copy=msgspec.msgpack.encode(2), checkpoint_fact=2, last_fact=2, marks={"hook": (0, 2)}
    )


async def test_events_and_detections_of_a_batch_are_returned_in_order(store, new_pane):
    pane = await new_pane()
    found = Detection(at=5, type="usage.reached", rule="r", pane=pane, source="signal", key="k")
    batch = FactBatch(events=[Event(at=5, kind="agent_began", pane=pane)], detections=[found, found])
    assert [(event.id, event.kind) for event in await store.agent_facts.add(batch)] == [
        (1, "agent_began"),
        (2, "usage.reached"),
    ]
