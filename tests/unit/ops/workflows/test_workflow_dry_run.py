from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_every_step_has_a_verdict() -> None:
    data = (await run_command(await build_sample_services(), "robot", "workflow", "dry-run", "nightly", "1")).envelope[
        "data"
    ]
    assert [(step["kind"], step["verdict"], step["assumed"]) for step in data["steps"]] == [
        ("wait_for", None, "it comes"),
        ("act", "ask", ""),
    ]


async def test_an_unknown_workflow_or_pane_is_not_found() -> None:
    assert (await run_command(await build_sample_services(), "robot", "workflow", "dry-run", "none", "1")).status == 4
    assert (
        await run_command(await build_sample_services(), "robot", "workflow", "dry-run", "nightly", "99")
    ).status == 4
