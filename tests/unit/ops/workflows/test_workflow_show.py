from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_the_steps_of_a_file_are_shown() -> None:
    data = (await run_command(await build_sample_services(), "robot", "workflow", "show", "nightly")).envelope["data"]
    assert (data["mode"], data["steps"]) == ("on", ['send {"text":"make test"}'])


async def test_an_unknown_workflow_is_not_found() -> None:
    result = await run_command(await build_sample_services(), "robot", "workflow", "show", "nothing")
    assert (result.status, result.envelope["error"]["code"]) == (4, "workflow_not_found")


async def test_a_workflow_with_an_invalid_file_is_reported_with_its_line() -> None:
    result = await run_command(await build_sample_services(), "robot", "workflow", "show", "broken")
    assert result.envelope["error"]["message"].startswith(
        "workflow broken is invalid: /home/me/.config/termvisor/workflows/"
    )
    assert result.envelope["error"]["message"].endswith(":3: there is no step 'sned'; did you mean send?")
