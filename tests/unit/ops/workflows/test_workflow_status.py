from msgspec.structs import replace

from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_only_active_runs_are_listed_without_all() -> None:
    services = await build_sample_services()
    data = (await run_command(services, "robot", "workflow", "status")).envelope["data"]
    assert [item["id"] for item in data["items"]] == [3]
    data = (await run_command(services, "robot", "workflow", "status", "--all", "--workflow", "nightly")).envelope[
        "data"
    ]
    assert data["summary"] == {"runs": 2, "by_status": {"failed": 2}}


async def test_a_plan_is_shown_and_an_empty_list_is_reported() -> None:
    services = await build_sample_services()
    assert "run 3: resume at noon" in (await run_command(services, "workflow", "status")).out
    services.run_sql("DELETE FROM run_step")
    services.run_sql("DELETE FROM run")
    assert "No active workflow runs." in (await run_command(services, "workflow", "status")).out


async def test_a_running_run_shows_its_current_step() -> None:
    services = await build_sample_services()
    run, _ = await services.workflows.get_run(3)
    await services.store.workflow_runs.save(replace(run, status="running", why="", plan=""))
    assert "at step 1, act send" in (await run_command(services, "workflow", "status")).out


async def test_without_active_runs_a_hint_names_the_all_option() -> None:
    services = await build_sample_services()
    run, _ = await services.workflows.get_run(3)
    await services.store.workflow_runs.save(replace(run, status="completed", ended_at=services.clock.now()))
    assert (
        "`visor workflow status --all` includes ended ones" in (await run_command(services, "workflow", "status")).out
    )
