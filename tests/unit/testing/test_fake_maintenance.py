import pytest

from termvisor.errors import Conflict
from termvisor.model.maintenance import MaintenanceRun
from termvisor.testing.fake_services import NOON, FakeServices


async def test_what_a_test_says_is_done_is_done() -> None:
    world = FakeServices()
    world.maintenance.maintenance_steps.append(MaintenanceRun(operation="seal", started_at=NOON))
    assert [run.operation async for run in world.maintenance.run_maintenance()] == ["seal"]
    assert [run.detail async for run in world.maintenance.run_maintenance(dry_run=True)] == ["foretold"]
    assert (await world.maintenance.get_health()).maintenance == tuple(world.maintenance.maintenance_steps)


async def test_a_backup_is_made_once() -> None:
    world = FakeServices()
    assert (await world.maintenance.backup_database("/x")).path == "/x"
    with pytest.raises(Conflict):
        await world.maintenance.backup_database("/x")
