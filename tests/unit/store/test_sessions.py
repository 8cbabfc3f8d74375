"""The conversations of agents, as they are asked for."""

from msgspec.structs import replace

from termvisor.model.ids import RuntimeId, SessionId
from termvisor.model.session import AgentSession, Usage
from termvisor.store.facts import Turn


def session(number: int, pane, agent: str = "toy", **fields) -> AgentSession:
    known = {"runtime": RuntimeId(number), "external_id": f"s{number}", "started_at": 100 * number}
    return AgentSession(id=SessionId(number), pane=pane, agent=agent, **(known | fields))


async def ids(store, **asked) -> list[int]:
    return [one.id for one in await store.sessions.list(**asked)]


async def test_the_newest_are_listed_oldest_first(store, new_pane):
    one, two = await new_pane("%1"), await new_pane("%2")
    told = [session(1, one, ended_at=150), session(2, two, agent="codex"), session(3, one, ended_at=900)]
    await store.facts.add(Turn(sessions=told))
    assert await store.sessions.list() == told
    assert await ids(store, limit=2) == [2, 3]
    assert await ids(store, pane=one) == [1, 3]
    assert await ids(store, agent="codex") == [2]
    assert await ids(store, since=200) == [2, 3]
    assert [one.id for one in await store.sessions.open()] == [2]


async def test_one_that_goes_on_is_written_again_as_it_is_now(store, new_pane):
    first = session(1, await new_pane(), external_id="")
    await store.facts.add(Turn(sessions=[first]))
    later = replace(first, external_id="abc", model="toy-1", usage=Usage(total=5), ended_at=300, end_reason="error")
    await store.facts.add(Turn(sessions=[later]))
    assert await store.sessions.list() == [later]
    assert await store.sessions.open() == []
