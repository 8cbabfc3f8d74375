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
