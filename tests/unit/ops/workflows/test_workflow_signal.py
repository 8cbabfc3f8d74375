from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_word_is_said_with_its_value() -> None:
    world = await build_sample_services()
    await run_command(world, "robot", "workflow", "signal", "3", "deployed", "--value", "v2")
    assert (world.workflows.received_changes[-1].word, world.workflows.received_changes[-1].value) == ("deployed", "v2")


async def test_words_that_are_operations_are_not_signals() -> None:
    answered = await run_command(await build_sample_services(), "robot", "workflow", "signal", "3", "cancel")
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")
