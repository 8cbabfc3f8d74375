from termvisor.model.workflow.run import Run, RunId
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._run_change import RunChangeResult, render_text
from termvisor.ops.workflows._run_item import build_run_item


def test_a_changed_run_is_one_line() -> None:
    result = RunChangeResult(run=build_run_item(Run(id=RunId(3), workflow="w", at=1, correlation="c"), 1))
    assert render_text(result, RenderOptions()) == "run 3 (w) is running"
