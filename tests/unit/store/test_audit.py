"""The audit only grows, survives, and shows where somebody touched it."""

import apsw
import pytest

from termvisor.model.action import Actor
from termvisor.model.audit import AuditEntry, BrokenChain
from termvisor.model.ids import PaneId
from termvisor.store.audit import AuditFilter

ME = Actor(kind="human", uid=1000, pid=42, name="visor")


def entry(number: int, **more) -> AuditEntry:
    known = {"at": number, "correlation": f"c{number}", "stage": "intent", "kind": "send_text", "actor": ME}
    return AuditEntry(**(known | more))


@pytest.fixture
def path(tmp_path) -> str:
    return str(tmp_path / "visor.db")


@pytest.fixture
async def filled(store):
    for number in range(1, 6):
        await store.audit.add([entry(number, pane=PaneId(number % 2 + 1), action={"text": f"word {number}"})])
    return store


def meddle(path: str, *statements: str) -> None:
    """What somebody with a database tool could do."""
    connection = apsw.Connection(path)
    connection.execute("DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_not_deleted")
    for statement in statements:
        connection.execute(statement)
    connection.close()


async def test_entries_come_back_as_they_were_with_a_chain(filled):
    found = await filled.audit.list(limit=2)
    assert [(one.id, one.action, one.actor) for one in found] == [
        (4, {"text": "word 4"}, ME),
        (5, {"text": "word 5"}, ME),
    ]
    assert found[1].previous == found[0].hash != ""
    assert await filled.audit.verify() is None


async def test_an_empty_audit_is_whole(store):
    assert await store.audit.verify() is None


async def test_entries_are_found_by_pane_kind_story_and_time(filled):
    async def ids(**only) -> list[int]:
        return [one.id for one in await filled.audit.list(only=AuditFilter(**only))]

    assert await ids(pane=PaneId(1)) == [2, 4]
    assert await ids(correlation="c3") == [3]
    assert await ids(since=4) == [4, 5]
    assert await ids(kind="kill") == []
    assert [one.id for one in await filled.audit.list(after=1, limit=2)] == [2, 3]


@pytest.mark.parametrize("statement", ["UPDATE audit SET kind = 'kill'", "DELETE FROM audit WHERE id = 5"])
async def test_the_database_itself_refuses_a_change(filled, path, statement):
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
async def test_tampering_is_found_at_the_exact_entry(filled, path, statement, broken):
    meddle(path, statement)
    found = await filled.audit.verify()
    assert isinstance(found, BrokenChain) and found.id == broken
