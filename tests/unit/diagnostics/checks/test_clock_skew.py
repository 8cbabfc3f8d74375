import pytest

from termvisor.clock import NS
from termvisor.diagnostics.checks.clock_skew import ClockSkewCheck
from termvisor.testing.fake_clock import NOON
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


@pytest.mark.parametrize(("ahead", "status"), [(-3600, "ok"), (0, "ok"), (5, "ok"), (6, "warn"), (3600, "warn")])
async def test_stored_times_must_not_lie_in_the_future(context: FakeCheckContext, ahead: int, status: str) -> None:
    context.newest_event_at = NOON + ahead * NS
    assert (await ClockSkewCheck().run(context)).status == status


async def test_nothing_stored_is_nothing_to_compare(context: FakeCheckContext) -> None:
    assert (await ClockSkewCheck().run(context)).status == "skip"
