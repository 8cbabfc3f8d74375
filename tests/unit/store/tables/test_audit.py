"""The audit log only grows, survives a restart, and shows tampering."""

import asyncio
import contextlib

import apsw
import msgspec
import pytest

from termvisor.model.action.action import Actor
from termvisor.model.action.audit import AuditEntry, AuditFilter, ChainBreak, hash_entry
from termvisor.model.ids import PaneId

ME = Actor(kind="human", uid=1000, pid=42, name="visor")


def build_entry(number: int, **more) -> AuditEntry:
    known = {"at": number, "correlation": f"c{number}", "stage": "intent", "kind": "send_text", "actor": ME}
    return AuditEntry(**(known | more))


@pytest.fixture
def path(tmp_path) -> str:
    return str(tmp_path / "visor.db")


@pytest.fixture
async def filled_audit(store):
    for number in range(1, 6):
        await store.audit.add([build_entry(number, pane=PaneId(number % 2 + 1), action={"text": f"word {number}"})])
    return store


def change_database(path: str, *statements: str) -> None:
    """Change the database file as another program could."""
    connection = apsw.Connection(path)
    connection.execute("DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_not_deleted")
    for statement in statements:
        connection.execute(statement)
    connection.close()


async def test_entries_are_read_back_with_their_hash_chain(filled_audit):
    found = await filled_audit.audit.list(limit=2)
    assert [(one.id, one.action, one.actor) for one in found] == [
        (4, {"text": "word 4"}, ME),
        (5, {"text": "word 5"}, ME),
    ]
    assert found[1].previous == found[0].hash != ""
    assert await filled_audit.audit.verify() is None


async def test_empty_audit_log_is_intact(store):
    assert await store.audit.verify() is None


async def test_entries_are_filtered_by_pane_kind_correlation_and_time(filled_audit):
    async def ids(**only) -> list[int]:
        return [one.id for one in await filled_audit.audit.list(filters=AuditFilter(**only))]

    assert await ids(pane=PaneId(1)) == [2, 4]
    assert await ids(correlation="c3") == [3]
    assert await ids(cause="c3") == [3]
    assert await ids(since=4) == [4, 5]
    assert await ids(kind="kill") == []
    assert [one.id for one in await filled_audit.audit.list(after=1, limit=2)] == [2, 3]


async def test_entries_are_found_by_the_event_that_caused_them(store):
    for correlation in ("event:12", "event:12.4.3.1", "event:123.5.1.1", "x.event:12"):
        await store.audit.add([build_entry(1, correlation=correlation)])
    found = {cause: await store.audit.list(filters=AuditFilter(cause=cause)) for cause in ("event:12", "event:12.4")}
    assert [one.id for one in found["event:12"]] == [1, 2]
    assert [one.id for one in found["event:12.4"]] == [2]


@pytest.mark.parametrize("statement", ["UPDATE audit SET kind = 'kill'", "DELETE FROM audit WHERE id = 5"])
async def test_database_triggers_reject_a_change(filled_audit, path, statement):
    with pytest.raises(apsw.ConstraintError, match="only ever added to"):
        apsw.Connection(path).execute(statement)


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE audit SET entry = replace(entry, 'word 3', 'word X') WHERE id = 3", 3),
        ("UPDATE audit SET kind = 'kill' WHERE id = 4", 4),
        ("UPDATE audit SET at = 99 WHERE id = 2", 2),
        ("UPDATE audit SET hash = 'x' WHERE id = 2", 2),
        ("DELETE FROM audit WHERE id = 3", 4),
        ("DELETE FROM audit WHERE id = 1", 2),
        ("DELETE FROM audit WHERE id = 5", 5),
    ],
)
async def test_tampering_is_found_at_the_exact_entry(filled_audit, path, statement, broken):
    change_database(path, statement)
    found = await filled_audit.audit.verify()
    assert isinstance(found, ChainBreak) and found.id == broken


async def test_followers_are_notified_after_entries_are_on_disk(filled_audit):
    with filled_audit.audit.updates.subscribe() as news:
        await filled_audit.audit.add([build_entry(6)])
        await news.get()
    assert (await filled_audit.audit.list(after=5))[0].correlation == "c6"


async def test_followers_are_notified_also_if_the_writer_was_cancelled(filled_audit):
    with filled_audit.audit.updates.subscribe() as news:
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(filled_audit.audit.add([build_entry(6)]))
            await asyncio.sleep(0)
            writing.cancel()
        await news.get()
    assert [one.correlation for one in await filled_audit.audit.list(after=5)] == ["c6"]


async def test_chain_entries_are_read_as_stored(filled_audit):
    links = await filled_audit.audit.list_chain_entries(after=3)
    assert [link.id for link in links] == [4, 5]
    assert links[1].previous == links[0].hash == hash_entry(links[0].previous, links[0].entry)


async def test_expected_hash_must_be_in_the_chain(filled_audit):
    (kept,) = await filled_audit.audit.list(limit=1)
    assert await filled_audit.audit.verify(kept.hash) is None
    assert (await filled_audit.audit.verify("f" * 64)).what == "no entry up to it has the expected hash"


async def test_entries_are_filtered_by_caller_outcome_and_undone_action(store):
    robot = Actor(kind="robot", uid=1000, pid=7, name="builder")
    await store.audit.add(
        [build_entry(1), build_entry(2, actor=robot, outcome="done"), build_entry(3, outcome="done", undoes="c2")]
    )

    async def ids(**only) -> list[int]:
        return [one.id for one in await store.audit.list(filters=AuditFilter(**only))]

    assert await ids(actor="robot") == await ids(actor="builder") == [2]
    assert await ids(outcome="done") == [2, 3]
    assert await ids(undoes="c2") == [3]
    assert await ids(until=2) == [1, 2]


async def test_entries_of_an_older_version_stay_unchanged_and_verifiable(store, path):
    """They lack the fields that were added later."""
    fields = msgspec.to_builtins(build_entry(1))
    text = msgspec.json.encode({name: value for name, value in fields.items() if name != "undoes"}).decode()
    actor = msgspec.json.encode(ME).decode()
    with contextlib.closing(apsw.Connection(path)) as connection:
        connection.execute(
            "INSERT INTO audit (at, correlation, stage, kind, pane, actor, entry, previous, hash)"
            " VALUES (1, 'c1', 'intent', 'send_text', NULL, ?, ?, '', ?)",
            (actor, text, hash_entry("", text)),
        )
    await store.audit.add([build_entry(2, undoes="c1")])
    assert await store.audit.verify() is None
    assert [one.undoes for one in await store.audit.list()] == ["", "c1"]


async def test_an_entry_that_was_read_is_stored_like_a_new_one(store):
    (first,) = await store.audit.add([build_entry(1)])
    again, other = await store.audit.add([first, build_entry(1)])
    assert (first.id, first.previous, again.id, again.previous) == (1, "", 2, first.hash)
    assert msgspec.structs.replace(again, id=0, previous="", hash="") == build_entry(1)
    assert other.previous == again.hash
    assert await store.audit.verify() is None
