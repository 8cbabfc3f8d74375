from msgspec.structs import replace

from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_only_what_is_under_way_is_shown_unless_all_is_asked_for() -> None:
    world = await build_sample_services()
    data = (await run_command(world, "robot", "workflow", "status")).envelope["data"]
    assert [item["id"] for item in data["items"]] == [3]
    data = (await run_command(world, "robot", "workflow", "status", "--all", "--workflow", "nightly")).envelope["data"]
    assert data["summary"] == {"runs": 2, "by_status": {"failed": 2}}


async def test_a_plan_is_shown_and_nothing_under_way_is_said() -> None:
    world = await build_sample_services()
    assert "run 3: resume at noon" in (await run_command(world, "workflow", "status")).out
    world.workflows.stored_runs.clear()
    assert "No workflow is under way." in (await run_command(world, "workflow", "status")).out


async def test_one_that_works_says_what_it_is_at() -> None:
    world = await build_sample_services()
    world.workflows.stored_runs[2] = replace(world.workflows.stored_runs[2], status="running", why="", plan="")
    assert "at step 1, act send" in (await run_command(world, "workflow", "status")).out


async def test_where_none_is_under_way_the_way_to_those_that_ended_is_told() -> None:
    world = await build_sample_services()
    world.workflows.stored_runs.pop()
    assert (
        "`visor workflow status --all` shows those that ended" in (await run_command(world, "workflow", "status")).out
    )
