from termvisor.testing.asking import ask, lively


async def test_a_word_is_said_with_its_value() -> None:
    world = await lively()
    await ask(world, "robot", "workflow", "signal", "3", "deployed", "--value", "v2")
    assert (world.runs.said[-1].word, world.runs.said[-1].value) == ("deployed", "v2")


async def test_words_that_are_operations_are_not_signals() -> None:
    answered = await ask(await lively(), "robot", "workflow", "signal", "3", "cancel")
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")
