from termvisor.testing.asking import ask, lively


async def test_a_run_is_cancelled_with_a_reason_and_one_that_ended_is_not() -> None:
    world = await lively()
    data = (await ask(world, "robot", "workflow", "cancel", "3", "--why", "not today")).envelope["data"]
    assert data["run"]["status"] == "cancelled"
    assert (world.runs.said[-1].kind, world.runs.said[-1].word) == ("cancel", "not today")
    assert (await ask(world, "robot", "workflow", "cancel", "1")).status == 75
