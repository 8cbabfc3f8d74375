from termvisor.model.workflow.info import Rehearsed
from termvisor.ops.render.text import Look
from termvisor.ops.workflows._dry_run_item import rehearsal, rows


def test_what_speaks_against_an_act_is_shown() -> None:
    told = rehearsal("w", 1, ([Rehearsed(number=0, kind="act", name="send", refused="somebody types")], "done"))
    assert told.steps[0].refused == "somebody types"
    assert "refused now: somebody types" in rows(told, Look())


def test_a_workflow_that_does_nothing_says_so() -> None:
    assert rows(rehearsal("w", 1, ([], "done")), Look()).startswith("It would do nothing.")
