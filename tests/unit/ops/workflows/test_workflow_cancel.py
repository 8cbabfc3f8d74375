from termvisor.model.workflow.run import Run, RunId
from termvisor.ops.render.text import Look
from termvisor.ops.workflows._run_change import ChangedRun
from termvisor.ops.workflows._run_item import run_item
from termvisor.ops.workflows.workflow_cancel import plain
from termvisor.testing.asking import ask, lively


async def test_a_run_is_cancelled_with_a_reason_and_one_that_ended_is_not() -> None:
    world = await lively()
    data = (await ask(world, "robot", "workflow", "cancel", "3", "--why", "not today")).envelope["data"]
    assert data["run"]["status"] == "cancelled"
    assert (world.runs.said[-1].kind, world.runs.said[-1].word) == ("cancel", "not today")
    assert (await ask(world, "robot", "workflow", "cancel", "1")).status == 75


async def test_a_run_that_has_not_ended_yet_is_not_said_to_go_on() -> None:
    run = run_item(Run(id=RunId(3), workflow="w", at=1, correlation="c"), 1)
    told = plain(ChangedRun(run=run), Look())
    assert told == "run 3 (w) was told to end; `visor workflow history 3` shows how it ends"
