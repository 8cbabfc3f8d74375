"""An index made before scripts without blanks were split stays valid and is upgraded later."""

import shutil

import pytest

from termvisor.clock import NS, SystemClock
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.search import search
from termvisor.store import Store
from termvisor.store.sqlite.database import open_connection
from termvisor.store.sqlite.database_file import apply_migrations, list_migrations

NOW = 1_000 * NS
TEXTS = ("日本語 text", "plain text", "🎉 text")


def write_old_database(folder) -> str:
    """Create a database as the last version with the old index left it."""
    schema = folder / "schema"
    schema.mkdir()
    for migration in list_migrations()[:15]:
        shutil.copy(migration.path, schema)
    path = str(folder / "old.db")
    open(path, "w").close()
    connection = open_connection(path, is_new=True)
    apply_migrations(connection, str(schema))
    connection.execute("INSERT INTO server VALUES (1, 'local', '/s', 1, 1)")
    connection.execute("INSERT INTO pane VALUES (1, 1, '%1', 0, '{}', 1, 1, NULL, NULL, 4)")
    for number, text in enumerate(TEXTS, 1):
        connection.execute("INSERT INTO block VALUES (?1, 1, 1, ?1, 1, 0, 0, 1, 1, 'stream', ?2)", (number, text))
        connection.execute("INSERT INTO block_fts (rowid, text, pane) VALUES (?, ?, 1)", (number, text))
    connection.execute("INSERT INTO block_time VALUES (0, 1, 1)")
    connection.close()
    return path


@pytest.fixture
async def old_store(tmp_path):
    store = await Store.open(write_old_database(tmp_path), SystemClock())
    yield store
    await store.close()


async def find_texts(store: Store, query: str) -> list[str]:
    return [hit.line.text for hit in (await search(store, SearchQuery(text=query), NOW)).hits]


async def test_an_old_index_stays_valid_and_is_upgraded_row_by_row(old_store):
    assert await find_texts(old_store, "text") == [*reversed(TEXTS)]
    assert await find_texts(old_store, "日本") == []
    assert await old_store.check_integrity(thorough=True) == "ok"
    assert [changed async for changed in old_store.maintenance.upgrade_indexes()] == [2, 0, 0]
    assert await find_texts(old_store, "日本") == ["日本語 text"]
    assert await find_texts(old_store, "🎉") == ["🎉 text"]
    assert await old_store.check_integrity(thorough=True) == "ok"
    assert [changed async for changed in old_store.maintenance.upgrade_indexes()] == [0, 0, 0]


async def test_old_rows_can_be_deleted_before_and_after_the_upgrade(old_store):
    deleted = [count async for _, count in old_store.maintenance.delete_older_rows(2)]
    assert sum(deleted) == 3
    assert await old_store.check_integrity(thorough=True) == "ok"


async def test_a_rebuild_upgrades_all_rows(old_store):
    assert [table async for table in old_store.maintenance.rebuild_indexes()] == ["block", "sighting", "utterance"]
    assert await find_texts(old_store, "日本") == ["日本語 text"]
    assert [changed async for changed in old_store.maintenance.upgrade_indexes()] == [0, 0, 0]
    assert await old_store.check_integrity(thorough=True) == "ok"
