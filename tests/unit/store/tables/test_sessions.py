"""Queries and updates of agent sessions."""

from msgspec.structs import replace

from termvisor.model.agent.session import AgentSession, TokenUsage
from termvisor.model.ids import RuntimeId, SessionId
from termvisor.store.tables.agent_facts import FactBatch


def build_session(number: int, pane, agent: str = "toy", **fields) -> AgentSession:
    known = {"runtime": RuntimeId(number), "external_id": f"s{number}", "started_at": 100 * number}
    return AgentSession(id=SessionId(number), pane=pane, agent=agent, **(known | fields))


async def list_ids(store, **asked) -> list[int]:
    return [one.id for one in await store.sessions.list(**asked)]


async def test_the_newest_sessions_are_listed_oldest_first(store, new_pane):
    one, two = await new_pane("%1"), await new_pane("%2")
    sessions = [
        build_session(1, one, ended_at=150),
        build_session(2, two, agent="codex"),
        build_session(3, one, ended_at=900),
    ]
    await store.agent_facts.add(FactBatch(sessions=sessions))
    assert await store.sessions.list() == sessions
    assert await list_ids(store, limit=2) == [2, 3]
    assert await list_ids(store, pane=one) == [1, 3]
    assert await list_ids(store, agent="codex") == [2]
    assert await list_ids(store, since=200) == [2, 3]
    assert [one.id for one in await store.sessions.list_open()] == [2]


async def test_open_session_is_updated_in_place(store, new_pane):
    first = build_session(1, await new_pane(), external_id="")
    await store.agent_facts.add(FactBatch(sessions=[first]))
    later = replace(
        first, external_id="abc", model="toy-1", usage=TokenUsage(total=5), ended_at=300, end_reason="error"
    )
    await store.agent_facts.add(FactBatch(sessions=[later]))
    assert await store.sessions.list() == [later]
    assert await store.sessions.list_open() == []


async def test_missing_fields_of_an_ended_session_are_filled_in(store, new_pane):
    over = build_session(
        1, await new_pane(), external_id="", usage=TokenUsage(total=5), reported_usage=TokenUsage(total=5), ended_at=300
    )
    going_on = build_session(2, await new_pane("%2"))
    await store.agent_facts.add(FactBatch(sessions=[over, going_on]))
    kept = await store.sessions.fill_missing_fields(
        SessionId(1), "abc", ("toy", "abc"), {"total": 9, "input": 3, "output": -1}
    )
    assert kept is not None
    assert (kept.usage.total, kept.usage.input, kept.usage.output) == (5, 3, None)
    assert (kept.external_id, kept.resume) == ("abc", ("toy", "abc"))
    assert await store.sessions.find(SessionId(1)) == kept
    again = await store.sessions.fill_missing_fields(SessionId(1), "other", ("x",), {"input": 4})
    assert again == kept
    assert await store.sessions.fill_missing_fields(SessionId(2), "x", (), {"total": 1}) == going_on
    assert await store.sessions.fill_missing_fields(SessionId(9), "x", (), {}) is None
