from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_sizes_and_the_last_runs_are_reported() -> None:
    out = (await run_command(await build_sample_services(), "db", "status")).out
    assert "12.4 MB, writable" in out
    assert "checkpoint  42s ago, 12 pages pending" in out
    assert "raw log     340 MB" in out
    assert "2 segments of 1 pane" in out


async def test_without_maintenance_runs_no_table_is_shown() -> None:
    services = await build_sample_services()
    services.maintenance.maintenance_steps.clear()
    data = (await run_command(services, "robot", "db", "status")).envelope["data"]
    assert (data["maintenance"], data["checkpoint_age_secs"]) == ([], 42.0)
    assert "OPERATION" not in (await run_command(services, "db", "status")).out
