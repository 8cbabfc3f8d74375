"""The database survives `kill -9` during creation, retention and restore."""

import signal
import subprocess
import sys

import pytest

from termvisor.clock import SystemClock
from termvisor.store import Store
from termvisor.store.maintenance.backup import read_file_contents
from termvisor.store.maintenance.restore import restore_backup
from termvisor.store.sqlite.database_file import find_latest_version
from tests.unit.kill_simulation import kill_at_every_step

DIES = """
import asyncio, os, signal, sys
import apsw
from termvisor.clock import SystemClock
from termvisor.store import Store

left = int(sys.argv[2])

def trace(cursor, statement, bindings):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return True

apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", trace))

async def main():
    store = await Store.open(sys.argv[1], SystemClock())
    async for _ in store.maintenance.delete_older_rows(500):
        pass
    async for _ in store.maintenance.release_free_pages():
        pass
    await store.close()

asyncio.run(main())
"""


def run_and_kill(path: str, step: int) -> int:
    return subprocess.run([sys.executable, "-c", DIES, path, str(step)], check=False).returncode


@pytest.mark.parametrize("step", [1, 20, 45, 70, 95, 110])
async def test_kill_during_creation_or_migration_is_recovered(tmp_path, step):
    path = str(tmp_path / "visor.db")
    assert run_and_kill(path, step) == -signal.SIGKILL
    store = await Store.open(path, SystemClock())
    assert await store.check_integrity(thorough=True) == "ok"
    assert await store._db.read(lambda connection: connection.pragma("user_version")) == find_latest_version()
    await store.close()


@pytest.mark.parametrize("step", [60, 90, 130, 165])
async def test_kill_while_deleting_old_rows_keeps_the_rest_intact(store, new_pane, write_lines, step):
    pane = await new_pane()
    for number in range(60):
        await write_lines(pane, f"old {number}", at=number)
    await write_lines(pane, "new", at=900)
    await store.close()
    assert run_and_kill(store._db.path, step) == -signal.SIGKILL
    again = await Store.open(store._db.path, SystemClock())
    assert await again.check_integrity(thorough=True) == "ok"
    numbers = [line.number for line in await again.output.read_lines(pane, limit=100)]
    assert numbers == list(range(numbers[0], 62))
    await again.close()
    assert run_and_kill(store._db.path, 1 << 30) == 0
    again = await Store.open(store._db.path, SystemClock())
    assert [line.text for line in await again.output.read_lines(pane)] == ["new"]
    assert await again.check_integrity(thorough=True) == "ok"
    await again.close()


async def test_kill_at_any_step_of_a_restore_leaves_a_complete_database(store, new_pane, write_lines, tmp_path):
    path, copy = (str(tmp_path / name) for name in ("visor.db", "copy.db"))
    await write_lines(await new_pane(), "before")
    await store.maintenance.write_backup(copy)
    await write_lines(await new_pane(), "after")
    await store.close()
    (tmp_path / "kept").write_bytes((tmp_path / "visor.db").read_bytes())

    def prepare():
        for left in tmp_path.glob("visor.db*"):
            left.unlink()
        (tmp_path / "visor.db").write_bytes((tmp_path / "kept").read_bytes())

    def verify():
        done = restore_backup(copy, path, 0)
        assert done.present is not None
        assert done.backup.lines == 1
        assert done.present.lines in (1, 2)
        kept = [read_file_contents(str(name)).lines for name in tmp_path.glob("visor.db.1970*")]
        assert 2 in kept

    assert kill_at_every_step(lambda: restore_backup(copy, path, 0), prepare, verify) >= 5
