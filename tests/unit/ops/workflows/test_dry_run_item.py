from termvisor.model.workflow.info import DryRunStep
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._dry_run_item import build_dry_run_result, render_dry_run


def test_what_speaks_against_an_act_is_shown() -> None:
    told = build_dry_run_result(
        "w", 1, ([DryRunStep(number=0, kind="act", name="send", refused="somebody types")], "done")
    )
    assert told.steps[0].refused == "somebody types"
    assert "refused now: somebody types" in render_dry_run(told, RenderOptions())


def test_a_workflow_that_does_nothing_says_so() -> None:
    assert render_dry_run(build_dry_run_result("w", 1, ([], "done")), RenderOptions()).startswith(
        "It would do nothing."
    )
