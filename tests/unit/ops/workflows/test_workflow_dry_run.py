from termvisor.model.workflow import DryRunStep
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows.workflow_dry_run import OP, build_dry_run_result, render_dry_run
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


def test_a_failed_precondition_is_shown() -> None:
    result = build_dry_run_result(
        "w", 1, ([DryRunStep(number=0, kind="act", name="send", refused="a user is typing")], "done")
    )
    assert result.steps[0].refused == "a user is typing"
    assert "refused now: a user is typing" in render_dry_run(result, RenderOptions())
    assert OP.get_exit_status(result) == 0
    refused = DryRunStep(number=0, kind="act", name="send", refused="several lines", ends_run=True)
    assert OP.get_exit_status(build_dry_run_result("w", 1, ([refused], "it would end here"))) == 1


def test_a_workflow_that_does_nothing_is_reported() -> None:
    assert render_dry_run(build_dry_run_result("w", 1, ([], "done")), RenderOptions()).startswith("No steps.")
