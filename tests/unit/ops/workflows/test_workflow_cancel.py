from termvisor.model.workflow.run import Run, RunId
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._run_change import RunChangeResult
from termvisor.ops.workflows._run_item import build_run_item
from termvisor.ops.workflows.workflow_cancel import render_text
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_run_is_cancelled_with_a_reason_and_one_that_ended_is_not() -> None:
    world = await build_sample_services()
    data = (await run_command(world, "robot", "workflow", "cancel", "3", "--why", "not today")).envelope["data"]
    assert data["run"]["status"] == "cancelled"
    assert (world.workflows.received_changes[-1].kind, world.workflows.received_changes[-1].word) == (
        "cancel",
        "not today",
    )
    assert (await run_command(world, "robot", "workflow", "cancel", "1")).status == 75


async def test_a_run_that_has_not_ended_yet_is_not_said_to_go_on() -> None:
    run = build_run_item(Run(id=RunId(3), workflow="w", at=1, correlation="c"), 1)
    told = render_text(RunChangeResult(run=run), RenderOptions())
    assert told == "run 3 (w) was told to end; `visor workflow history 3` shows how it ends"
