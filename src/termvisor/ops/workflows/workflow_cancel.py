"""The operation `workflow_cancel`: cancel a workflow run."""

from termvisor.model.workflow.info import RunChangeRequest
from termvisor.model.workflow.run import ENDED_RUN_STATUSES
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows import _run_change
from termvisor.ops.workflows._run_change import RUN_CHANGE_EXITS, RunChangeResult, RunWithReasonArgs, change_run


class WorkflowCancelArgs(RunWithReasonArgs, frozen=True, kw_only=True):
    """The workflow run, and the reason."""


async def run(services: ActingServices, args: WorkflowCancelArgs) -> RunChangeResult:
    return await change_run(services, args.run, RunChangeRequest(kind="cancel", word=args.why))


def render_text(result: RunChangeResult, options: RenderOptions) -> str:
    run = result.run
    if options.is_quiet or run.status in ENDED_RUN_STATUSES:
        return _run_change.render_text(result, options)
    # The run ends only after its current step and its cleanup.
    return f"run {run.id} ({run.workflow}) is being cancelled; `visor workflow history {run.id}` shows its end"


OP = Operation(
    name="workflow_cancel",
    summary="Cancel a workflow run.",
    doc="""The current step is left as it is; the cleanup of the workflow runs once, and the event stays unhandled. A
cancelled run cannot be resumed.""",
    args_type=WorkflowCancelArgs,
    result_type=RunChangeResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=RUN_CHANGE_EXITS,
    examples=(
        OperationExample("workflow cancel 3", "cancel run 3"),
        OperationExample("robot workflow cancel 3 --why 'not today'", "with a reason"),
    ),
)
