from termvisor.testing.asking import ask, lively


async def test_the_steps_of_a_file_are_shown() -> None:
    data = (await ask(await lively(), "robot", "workflow", "show", "nightly")).envelope["data"]
    assert (data["mode"], data["steps"]) == ("on", ['send {"text":"make test"}'])


async def test_one_that_there_is_not_is_not_found() -> None:
    answered = await ask(await lively(), "robot", "workflow", "show", "nothing")
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "workflow_not_found")
