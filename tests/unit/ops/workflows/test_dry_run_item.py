from termvisor.model.workflow.info import DryRunStep
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._dry_run_item import build_dry_run_result, render_dry_run


def test_a_failed_precondition_is_shown() -> None:
    result = build_dry_run_result(
        "w", 1, ([DryRunStep(number=0, kind="act", name="send", refused="somebody types")], "done")
    )
    assert result.steps[0].refused == "somebody types"
    assert "refused now: somebody types" in render_dry_run(result, RenderOptions())


def test_a_workflow_that_does_nothing_is_reported() -> None:
    assert render_dry_run(build_dry_run_result("w", 1, ([], "done")), RenderOptions()).startswith("No steps.")
