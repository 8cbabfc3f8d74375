import os

import pytest

from termvisor.diagnostics.checks.disk import DiskSpaceCheck, judge_free_space
from termvisor.settings import Paths
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


async def test_a_folder_that_can_be_written_is_fine_and_left_clean(context: FakeCheckContext) -> None:
    os.makedirs(context.paths.data_dir)
    finding = await DiskSpaceCheck().run(context)
    assert "GB free" in finding.message
    assert os.listdir(context.paths.data_dir) == []


async def test_a_folder_that_takes_no_file_fails() -> None:
    finding = await DiskSpaceCheck().run(FakeCheckContext(Paths("/none", "/proc", "/none"), None))
    assert (finding.status, finding.message.startswith("/proc is not writable")) == ("fail", True)


@pytest.mark.parametrize(
    ("free", "status"), [(5_000_000_000, "ok"), (1_000_000_000, "ok"), (999_999_999, "warn"), (99_999_999, "fail")]
)
def test_free_space_is_judged(free: int, status: str) -> None:
    assert judge_free_space("/data", free).status == status
