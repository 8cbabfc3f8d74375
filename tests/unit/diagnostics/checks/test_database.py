import os

import msgspec
import pytest

from termvisor.clock import SystemClock
from termvisor.diagnostics.checks.check import Finding
from termvisor.diagnostics.checks.database import DatabaseIsWhole, examined
from termvisor.model.health import Health
from termvisor.store import Store
from tests.unit.diagnostics.checks.conftest import MemorySight


@pytest.fixture
async def path(sight: MemorySight) -> str:
    os.makedirs(sight.places.data_dir, mode=0o700)
    store = await Store.open(sight.places.database, SystemClock())
    await store.close()
    return sight.places.database


class ReadOnly(MemorySight):
    async def health(self) -> Health | None:
        health = await super().health()
        assert health is not None
        return msgspec.structs.replace(health, db_writable=False)


async def test_a_real_database_is_whole(sight: MemorySight, path: str) -> None:
    assert await DatabaseIsWhole().look(sight) == Finding(name="database", status="ok", message=f"{path} is whole")


async def test_a_database_in_use_can_be_checked(sight: MemorySight, path: str) -> None:
    store = await Store.open(path, SystemClock())
    assert (await DatabaseIsWhole().look(sight)).status == "ok"
    assert store.writable()
    await store.close()


async def test_a_file_that_is_no_database_fails_and_is_left_alone(sight: MemorySight, path: str) -> None:
    with open(path, "wb") as file:
        file.write(b"not a database at all" * 1000)
    finding = await DatabaseIsWhole().look(sight)
    assert (finding.status, bool(finding.hint)) == ("fail", True)
    assert os.path.getsize(path) == 21_000


async def test_a_damaged_database_fails(path: str) -> None:
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    assert (await examined(path)).status == "fail"


async def test_a_daemon_that_cannot_write_is_told(sight: MemorySight, path: str) -> None:
    finding = await DatabaseIsWhole().look(ReadOnly(sight.places, sight.world))
    assert (finding.status, finding.message) == ("fail", f"the daemon cannot write {path}")


async def test_before_the_first_start_there_is_none(sight: MemorySight) -> None:
    assert (await DatabaseIsWhole().look(sight)).status == "skip"
