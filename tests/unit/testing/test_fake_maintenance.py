import pytest

from termvisor.errors import Conflict
from termvisor.model.maintenance import MaintenanceRun
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices


async def test_what_a_test_says_is_done_is_done() -> None:
    services = FakeServices()
    services.maintenance.maintenance_steps.append(MaintenanceRun(operation="seal", started_at=NOON))
    assert [run.operation async for run in services.maintenance.run_maintenance()] == ["seal"]
    assert [run.detail async for run in services.maintenance.run_maintenance(dry_run=True)] == ["preview"]
    assert (await services.maintenance.get_health()).maintenance == tuple(services.maintenance.maintenance_steps)


async def test_a_backup_is_made_once() -> None:
    services = FakeServices()
    assert (await services.maintenance.backup_database("/x")).path == "/x"
    with pytest.raises(Conflict):
        await services.maintenance.backup_database("/x")
