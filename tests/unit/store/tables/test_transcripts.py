"""Transcript messages are stored once, searchable, and deleted by retention."""

import pytest

from termvisor.clock import NS
from termvisor.model.agent.session import AgentSession, TranscriptMessage
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import RuntimeId, SessionId
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.search import search
from termvisor.store.maintenance.retention import HISTORY_TABLES, DeletionProgress, delete_old_rows
from termvisor.store.tables.agent_facts import FactBatch

NOW = 1_000_000 * NS


@pytest.fixture
async def add_message(store, new_pane):
    pane = await new_pane("%1", session_name="work")
    session = AgentSession(id=SessionId(1), runtime=RuntimeId(1), pane=pane, agent="codex", started_at=NOW)
    await store.agent_facts.add(FactBatch(sessions=[session]))

    async def add(text: str, role: str = "user", at: int = NOW, **fields) -> int:
        given = {"pane": pane, "runtime": RuntimeId(1), "agent": "codex", "session": "s", "key": f"{role}:{text}"}
        return await store.transcripts.add([TranscriptMessage(role=role, text=text, at=at, **(given | fields))])

    add.pane = pane
    return add


async def search_texts(store, text: str, **question) -> list[str]:
    hits = (await search(store, SearchQuery(text=text, **question), NOW)).hits
    return [hit.line.text for hit in hits]


async def test_same_message_is_stored_once(store, add_message):
    assert [await add_message("mend the build"), await add_message("mend the build")] == [1, 0]
    assert await add_message("mend the build", session="another") == 1
    assert len(await search_texts(store, "mend")) == 2


async def test_search_hit_has_role_and_agent(store, add_message):
    await add_message("first\nmend the build\nlast")
    (hit,) = (await search(store, SearchQuery(text="build", context=1), NOW)).hits
    assert (hit.line.text, hit.line.source, hit.role, hit.agent) == ("mend the build", "transcript", "user", "codex")
    assert (hit.before, hit.after, hit.screen) == (("first",), ("last",), None)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("build", ["i mend the build", "mend the build", "make build"]),
        ("build role:user", ["mend the build"]),
        ("build -role:user", ["i mend the build", "make build"]),
        ("build role:assistant agent:codex", ["i mend the build"]),
        ("build agent:gemini", []),
        ("build source:transcript", ["i mend the build", "mend the build"]),
        ("build source:stream", ["make build"]),
        ("build -source:transcript", ["make build"]),
        ("build source:transcript session:work until:2m", []),
        ("build (role:user OR source:stream)", ["mend the build", "make build"]),
    ],
)
@pytest.mark.parametrize("rank", ["recency", "relevance"])
async def test_filters_apply_to_messages_and_output(store, add_message, write_lines, query, expected, rank):
    await write_lines(add_message.pane, "make build", at=NOW - 60 * NS)
    await add_message("mend the build", at=NOW - 50 * NS)
    await add_message("i mend the build", "assistant", at=NOW - 40 * NS)
    found = await search_texts(store, query, rank=rank, known_names={"agent": ("gemini",)})
    assert sorted(found) == sorted(expected)


async def test_old_messages_are_deleted_with_their_index_entries(store, add_message):
    await add_message("long ago", at=NOW - 100 * NS)
    await add_message("just now")
    aged = next(one for one in HISTORY_TABLES if one.table == "utterance")
    await store._db.write(
        lambda connection: delete_old_rows(connection, DeletionProgress(aged, NOW - NS), lambda: False)
    )
    assert (await search_texts(store, "ago"), await search_texts(store, "now")) == ([], ["just now"])
    assert await store.check_integrity(thorough=True) == "ok"


async def test_message_index_can_be_rebuilt(store, add_message):
    await add_message("mend the \ud800build")
    assert [table async for table in store.maintenance.rebuild_indexes()]
    assert len(await search_texts(store, "mend")) == 1


async def test_newest_message_time_of_a_pane(store, add_message):
    assert await store.transcripts.find_newest_time(add_message.pane) == 0
    await add_message("one", at=NOW + 5)
    assert await store.transcripts.find_newest_time(add_message.pane) == NOW + 5


async def test_detections_in_messages_are_stored_once(store, add_message):
    message = TranscriptMessage(
        pane=add_message.pane,
        runtime=RuntimeId(1),
        agent="codex",
        session="s",
        role="user",
        key="k",
        at=NOW,
        text="deploy",
    )
    found = Detection(at=NOW, type="org.deploy", rule="org.deploy", pane=add_message.pane, source="transcript")
    count, events = await store.transcripts.add_with_detections([(message, [found])])
    assert (count, [event.kind for event in events]) == (1, ["org.deploy"])
    assert await store.transcripts.add_with_detections([(message, [found])]) == (0, [])
    assert len(await store.detections.list_unhandled()) == 1
