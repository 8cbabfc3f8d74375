import pytest

from termvisor.clock import NS
from termvisor.diagnostics.checks.clock_skew import ClockIsSteady
from termvisor.testing.world import NOON
from tests.unit.diagnostics.checks.conftest import MemorySight


@pytest.mark.parametrize(("ahead", "status"), [(-3600, "ok"), (0, "ok"), (5, "ok"), (6, "warn"), (3600, "warn")])
async def test_stored_times_must_not_lie_in_the_future(sight: MemorySight, ahead: int, status: str) -> None:
    sight.newest = NOON + ahead * NS
    assert (await ClockIsSteady().look(sight)).status == status


async def test_nothing_stored_is_nothing_to_compare(sight: MemorySight) -> None:
    assert (await ClockIsSteady().look(sight)).status == "skip"
