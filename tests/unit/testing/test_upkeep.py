import pytest

from termvisor.errors import Conflict
from termvisor.model.maintenance import Maintenance
from termvisor.testing.world import NOON, MemoryWorld


async def test_what_a_test_says_is_done_is_done() -> None:
    world = MemoryWorld()
    world.upkeep.runs.append(Maintenance(operation="seal", started_at=NOON))
    assert [run.operation async for run in world.upkeep.maintain()] == ["seal"]
    assert [run.detail async for run in world.upkeep.maintain(dry_run=True)] == ["foretold"]
    assert (await world.upkeep.health()).maintenance == tuple(world.upkeep.runs)


async def test_a_backup_is_made_once() -> None:
    world = MemoryWorld()
    assert (await world.upkeep.backup("/x")).path == "/x"
    with pytest.raises(Conflict):
        await world.upkeep.backup("/x")
