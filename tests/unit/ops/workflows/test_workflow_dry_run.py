from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_every_step_has_what_would_be_said_of_it() -> None:
    data = (await run_command(await build_sample_services(), "robot", "workflow", "dry-run", "nightly", "1")).envelope[
        "data"
    ]
    assert [(step["kind"], step["verdict"], step["assumed"]) for step in data["steps"]] == [
        ("wait_for", None, "it comes"),
        ("act", "ask", ""),
    ]


async def test_a_workflow_or_pane_that_there_is_not_is_told() -> None:
    assert (await run_command(await build_sample_services(), "robot", "workflow", "dry-run", "none", "1")).status == 4
    assert (
        await run_command(await build_sample_services(), "robot", "workflow", "dry-run", "nightly", "99")
    ).status == 4
