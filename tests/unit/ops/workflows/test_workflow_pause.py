from termvisor.testing.asking import ask, lively


async def test_a_run_is_held() -> None:
    world = await lively()
    assert "is paused" in (await ask(world, "workflow", "pause", "3", "--why", "mine")).out
    assert (world.runs.said[-1].kind, world.runs.said[-1].word) == ("pause", "mine")
