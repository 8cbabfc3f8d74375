import os

import msgspec
import pytest

from termvisor.clock import SystemClock
from termvisor.diagnostics.checks.check import CheckFinding
from termvisor.diagnostics.checks.storage import DatabaseCheck, DiskSpaceCheck
from termvisor.model.health import HealthStatus
from termvisor.settings import Paths
from termvisor.store import Store
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


@pytest.fixture
async def path(context: FakeCheckContext) -> str:
    os.makedirs(context.paths.data_dir, mode=0o700)
    store = await Store.open(context.paths.database, SystemClock())
    await store.close()
    return context.paths.database


class ReadOnly(FakeCheckContext):
    async def get_health(self) -> HealthStatus | None:
        health = await super().get_health()
        assert health is not None
        return msgspec.structs.replace(health, db_writable=False)


async def test_a_real_database_is_intact(context: FakeCheckContext, path: str) -> None:
    assert await DatabaseCheck().run(context) == CheckFinding(name="database", status="ok", message=f"{path} is intact")


async def test_a_database_in_use_can_be_checked(context: FakeCheckContext, path: str) -> None:
    store = await Store.open(path, SystemClock())
    assert (await DatabaseCheck().run(context)).status == "ok"
    assert store.is_writable()
    await store.close()


async def test_a_file_that_is_not_a_database_fails_and_is_not_changed(context: FakeCheckContext, path: str) -> None:
    with open(path, "wb") as file:
        file.write(b"not a database at all" * 1000)
    finding = await DatabaseCheck().run(context)
    assert (finding.status, bool(finding.hint)) == ("fail", True)
    assert os.path.getsize(path) == 21_000


async def test_a_damaged_database_fails(context: FakeCheckContext, path: str) -> None:
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    assert (await DatabaseCheck().run(context)).status == "fail"


async def test_a_daemon_that_cannot_write_is_reported(context: FakeCheckContext, path: str) -> None:
    finding = await DatabaseCheck().run(ReadOnly(context.paths, context.services))
    assert (finding.status, finding.message) == ("fail", f"the daemon cannot write {path}")


async def test_before_the_first_start_there_is_no_database(context: FakeCheckContext) -> None:
    assert (await DatabaseCheck().run(context)).status == "skip"


async def test_a_writable_folder_is_ok_and_left_clean(context: FakeCheckContext) -> None:
    os.makedirs(context.paths.data_dir)
    finding = await DiskSpaceCheck().run(context)
    assert "GB free" in finding.message
    assert os.listdir(context.paths.data_dir) == []


async def test_an_unwritable_folder_fails() -> None:
    finding = await DiskSpaceCheck().run(FakeCheckContext(Paths("/none", "/proc", "/none"), None))
    assert (finding.status, finding.message.startswith("/proc is not writable")) == ("fail", True)


@pytest.mark.parametrize(
    ("free", "status"), [(5_000_000_000, "ok"), (1_000_000_000, "ok"), (999_999_999, "warn"), (99_999_999, "fail")]
)
def test_free_space_is_checked(free: int, status: str) -> None:
    assert DiskSpaceCheck().judge_free_space("/data", free).status == status
