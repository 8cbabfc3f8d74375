import pytest

from termvisor.errors import Conflict
from termvisor.model.maintenance import MaintenanceRun
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices


async def test_the_given_maintenance_steps_are_returned() -> None:
    services = FakeServices()
    services.maintenance.maintenance_steps.append(MaintenanceRun(operation="seal", started_at=NOON))
    assert [run.operation async for run in services.maintenance.run_maintenance()] == ["seal"]
    assert [run.detail async for run in services.maintenance.run_maintenance(dry_run=True)] == ["preview"]
    assert (await services.maintenance.get_health()).maintenance == tuple(services.maintenance.maintenance_steps)


async def test_a_fake_backup_is_written_once() -> None:
    services = FakeServices()
    assert (await services.maintenance.backup_database("/x")).path == "/x"
    with pytest.raises(Conflict):
        await services.maintenance.backup_database("/x")
