from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_the_steps_of_a_file_are_shown() -> None:
    data = (await run_command(await build_sample_services(), "robot", "workflow", "show", "nightly")).envelope["data"]
    assert (data["mode"], data["steps"]) == ("on", ['send {"text":"make test"}'])


async def test_one_that_there_is_not_is_not_found() -> None:
    answered = await run_command(await build_sample_services(), "robot", "workflow", "show", "nothing")
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "workflow_not_found")


async def test_one_whose_file_is_wrong_is_told_with_its_line() -> None:
    answered = await run_command(await build_sample_services(), "robot", "workflow", "show", "broken")
    assert answered.envelope["error"]["message"].startswith("broken is left out: /home/me/.config/termvisor/workflows/")
    assert answered.envelope["error"]["message"].endswith(":3: there is no step 'sned'; did you mean send?")
