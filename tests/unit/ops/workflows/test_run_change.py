from termvisor.model.workflow.run import Run, RunId
from termvisor.ops.render.text import Look
from termvisor.ops.workflows._run_change import ChangedRun, plain
from termvisor.ops.workflows._run_item import run_item


def test_a_changed_run_is_one_line() -> None:
    told = ChangedRun(run=run_item(Run(id=RunId(3), workflow="w", at=1, correlation="c"), 1))
    assert plain(told, Look()) == "run 3 (w) is running"
