"""Text that an affected Python stored is derived again from the raw log before capture begins."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import apsw
import pytest

from termvisor.daemon.maintenance import derived_text
from termvisor.daemon.maintenance.derived_text import derive_doubtful_text
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextBlock
from termvisor.pipeline.derive_text import EpochToDerive
from termvisor.settings import Paths, Settings
from termvisor.store.sqlite.database import register_functions
from termvisor.store.sqlite.database_file import apply_migrations, list_migrations
from termvisor.store.tables.derived_text import DerivedText
from tests.pattern_cache import install_pattern_cache
from tests.unit.daemon.aged_storage import AgedStorage, open_storage

WRONG = b"\x1b[1mone\x1b[0m\r\ntwo\r\n"
"""The storage's own text of these bytes has the escape sequences in it, as that of an affected version."""


@pytest.fixture
async def storage(tmp_path) -> AsyncIterator[AgedStorage]:
    async with open_storage(str(tmp_path)) as opened:
        install_pattern_cache(opened.places)
        yield opened


async def derive(storage: AgedStorage) -> list[str]:
    """Derive all text and return what is recorded about it."""
    query = "INSERT OR IGNORE INTO text_to_derive SELECT id FROM epoch"
    await storage.store._db.write(lambda connection: connection.execute(query).fetchall())
    await derive_doubtful_text(storage.store, storage.places, storage.settings, storage.clock)
    return [run.detail for run in await storage.store.maintenance.list_runs()]


async def test_text_of_open_and_closed_epochs_is_derived_again(storage: AgedStorage) -> None:
    pane, other = await storage.add_pane(), await storage.add_pane("%2")
    await storage.print_epoch(pane, WRONG, days_ago=2)
    await storage.print_epoch(pane, b"\x1b[32mthree\x1b[0m\n", days_ago=1, is_open=True)
    await storage.print_epoch(other, WRONG, days_ago=1)
    assert await derive(storage) == ["4 lines derived again"]
    assert await storage.read_texts(pane) == ["one", "two"]  # the rest is still on the screen
    assert await storage.read_texts(other) == ["one", "two"]
    assert await storage.store.output.list_doubtful_epochs() == []
    assert await storage.store.check_integrity(thorough=True) == "ok"


async def test_text_without_a_raw_log_stays(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    gone = await storage.print_epoch(pane, WRONG, days_ago=2)
    await storage.print_epoch(pane, b"\x1b[32mthree\x1b[0m\n", days_ago=1)
    shutil.rmtree(f"{storage.places.raw_dir}/{pane}/{gone}")
    before = await storage.read_texts(pane)
    assert await derive(storage) == ["1 lines derived again"]
    assert await storage.read_texts(pane) == [*before[:-1], "three"]
    assert await storage.store.output.list_doubtful_epochs() == []


async def test_an_epoch_that_takes_all_the_time_is_not_tried_again(storage: AgedStorage, monkeypatch) -> None:
    for mux_id in ("%1", "%2"):
        await storage.print_epoch(await storage.add_pane(mux_id), WRONG, days_ago=1)
    monkeypatch.setattr(derived_text, "_TIME_LIMIT_S", 0.0)
    assert await derive(storage) == ["0 lines derived again; 1 epochs left for the next start"]
    assert await storage.read_texts(PaneId(2)) == WRONG.decode().splitlines()


async def test_an_epoch_that_crashes_the_worker_is_not_tried_again(storage: AgedStorage, monkeypatch) -> None:
    for mux_id in ("%1", "%2"):
        await storage.print_epoch(await storage.add_pane(mux_id), WRONG, days_ago=1)
    monkeypatch.setattr(derived_text, "_WORKER", f"{__name__}:derive_one_and_crash")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))
    assert await derive(storage) == ["1 lines derived again"]
    assert [await storage.read_texts(PaneId(pane)) for pane in (1, 2)] == [WRONG.decode().splitlines(), ["derived"]]


def derive_one_and_crash(_paths: Paths, _settings: Settings, epochs: list[EpochToDerive]) -> Iterator[DerivedText]:
    epoch = epochs[0].epoch
    block = TextBlock(epoch=epoch.id, start=0, end=1, at=1, until=1, lines=("derived",))
    yield DerivedText(epoch.pane, epoch.id, (block,))
    os._exit(1)


async def test_a_current_database_has_nothing_to_derive(storage: AgedStorage) -> None:
    await storage.print_epoch(await storage.add_pane(), b"right\n", days_ago=1)
    await derive_doubtful_text(storage.store, storage.places, storage.settings, storage.clock)
    assert await storage.store.maintenance.list_runs() == []


@pytest.mark.parametrize(("text", "listed"), [("a\x1b[0mb", [(1,), (2,)]), ("a?2004l", [])])
def test_all_epochs_are_listed_where_an_escape_sequence_was_stored(text: str, listed: list) -> None:
    connection = apsw.Connection(":memory:")
    register_functions(connection)
    for migration in list_migrations()[:16]:
        with open(migration.path, encoding="utf-8") as file:
            connection.execute(file.read())
        connection.pragma("user_version", migration.version)
    connection.execute("INSERT INTO epoch (pane, source, opened_at) VALUES (1, 'pipe', 1), (1, 'pipe', 2)")
    connection.execute("INSERT INTO block VALUES (1, 1, 1, 1, 1, 0, 0, 1, 1, 'stream', ?)", (text,))
    apply_migrations(connection)
    assert connection.execute("SELECT epoch FROM text_to_derive").fetchall() == listed
