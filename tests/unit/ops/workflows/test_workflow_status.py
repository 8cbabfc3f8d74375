from msgspec.structs import replace

from termvisor.testing.asking import ask, lively


async def test_only_what_is_under_way_is_shown_unless_all_is_asked_for() -> None:
    world = await lively()
    data = (await ask(world, "robot", "workflow", "status")).envelope["data"]
    assert [item["id"] for item in data["items"]] == [3]
    data = (await ask(world, "robot", "workflow", "status", "--all", "--workflow", "nightly")).envelope["data"]
    assert data["summary"] == {"runs": 2, "by_status": {"failed": 2}}


async def test_a_plan_is_shown_and_nothing_under_way_is_said() -> None:
    world = await lively()
    assert "run 3: resume at noon" in (await ask(world, "workflow", "status")).out
    world.runs.kept.clear()
    assert "No workflow is under way." in (await ask(world, "workflow", "status")).out


async def test_one_that_works_says_what_it_is_at() -> None:
    world = await lively()
    world.runs.kept[2] = replace(world.runs.kept[2], status="running", why="", plan="")
    assert "at step 1, act send" in (await ask(world, "workflow", "status")).out


async def test_where_none_is_under_way_the_way_to_those_that_ended_is_told() -> None:
    world = await lively()
    world.runs.kept.pop()
    assert "`visor workflow status --all` shows those that ended" in (await ask(world, "workflow", "status")).out
