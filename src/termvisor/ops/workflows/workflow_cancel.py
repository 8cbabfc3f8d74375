"""The op `workflow_cancel`: end a run of a workflow now."""

from termvisor.model.workflow.info import RunChangeRequest
from termvisor.model.workflow.run import ENDED_RUN_STATUSES
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._run_change import RUN_CHANGE_EXITS, RunChangeResult, RunWithReasonArgs, change_run
from termvisor.ops.workflows._run_change import render_text as told


class WorkflowCancelArgs(RunWithReasonArgs, frozen=True, kw_only=True):
    """Which run, and why."""


async def run(services: ActingServices, args: WorkflowCancelArgs) -> RunChangeResult:
    return await change_run(services, args.run, RunChangeRequest(kind="cancel", word=args.why))


def render_text(result: RunChangeResult, options: RenderOptions) -> str:
    """It ends once what it is doing has ended."""
    run = result.run
    if options.is_quiet or run.status in ENDED_RUN_STATUSES:
        return told(result, options)
    return f"run {run.id} ({run.workflow}) was told to end; `visor workflow history {run.id}` shows how it ends"


OP = Operation(
    name="workflow_cancel",
    summary="End a run of a workflow now.",
    doc="""What it is doing right now is left as it is; its cleanup is done, once, and its event stays unhandled.
A run that was cancelled does not come back.""",
    args_type=WorkflowCancelArgs,
    result_type=RunChangeResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=RUN_CHANGE_EXITS,
    examples=(
        OperationExample("workflow cancel 3", "end it"),
        OperationExample("robot workflow cancel 3 --why 'not today'", "and say why"),
    ),
)
