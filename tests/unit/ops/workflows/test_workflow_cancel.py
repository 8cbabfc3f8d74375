from termvisor.model.workflow import Run, RunId
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._workflow_runs import RunChangeResult, build_run_item
from termvisor.ops.workflows.workflow_cancel import render_text
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_run_is_cancelled_with_a_reason_unless_it_ended() -> None:
    services = await build_sample_services()
    data = (await run_command(services, "robot", "workflow", "cancel", "3", "--why", "not today")).envelope["data"]
    assert data["run"]["status"] == "cancelled"
    assert (services.workflows.received_changes[-1].kind, services.workflows.received_changes[-1].word) == (
        "cancel",
        "not today",
    )
    assert (await run_command(services, "robot", "workflow", "cancel", "1")).status == 75


async def test_a_run_that_is_being_cancelled_is_reported() -> None:
    run = build_run_item(Run(id=RunId(3), workflow="w", at=1, correlation="c"), 1)
    result = render_text(RunChangeResult(run=run), RenderOptions())
    assert result == "run 3 (w) is being cancelled; `visor workflow history 3` shows its end"
