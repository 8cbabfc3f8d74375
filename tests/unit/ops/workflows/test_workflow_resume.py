from termvisor.testing.asking import ask, lively


async def test_a_run_goes_on() -> None:
    world = await lively()
    assert (await ask(world, "-q", "workflow", "resume", "3")).out == "3\n"
    assert world.runs.said[-1].kind == "resume"
