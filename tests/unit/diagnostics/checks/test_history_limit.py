from termvisor.diagnostics.checks.history_limit import HistoryIsLong
from termvisor.testing.world import MemoryWorld, shell
from tests.unit.diagnostics.checks.conftest import MemorySight


async def test_long_histories_are_fine(sight: MemorySight, world: MemoryWorld) -> None:
    world.pane(shell(history_limit=50_000))
    assert (await HistoryIsLong().look(sight)).status == "ok"


async def test_short_ones_are_counted_with_the_line_that_mends_it(sight: MemorySight, world: MemoryWorld) -> None:
    world.pane(shell(history_limit=50_000))
    world.pane(shell("%2", history_limit=2000))
    world.pane(shell("%3", history_limit=49_999))
    finding = await HistoryIsLong().look(sight)
    assert (finding.status, "2 of 3 panes" in finding.message, "2,000" in finding.message) == ("warn", True, True)
    assert "set -g history-limit 50000" in finding.hint


async def test_a_pane_that_does_not_tell_is_not_counted(sight: MemorySight, world: MemoryWorld) -> None:
    world.pane(shell(history_limit=0))
    assert (await HistoryIsLong().look(sight)).status == "skip"
