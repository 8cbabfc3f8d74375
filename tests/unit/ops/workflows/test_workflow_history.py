from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_every_step_is_listed_with_its_input() -> None:
    data = (await run_command(await build_sample_services(), "robot", "workflow", "history", "3")).envelope["data"]
    assert [(step["kind"], step["status"], step["attempt"]) for step in data["steps"]] == [
        ("wait_for", "running", 1),
        ("act", "retry", 2),
    ]
    assert data["steps"][1]["given"] == {"wish": {"text": "hello"}}


async def test_a_run_without_steps_is_empty_and_an_unknown_run_is_an_error() -> None:
    assert "No steps." in (await run_command(await build_sample_services(), "workflow", "history", "1")).out
    assert (await run_command(await build_sample_services(), "robot", "workflow", "history", "99")).status == 4
