"""The operation `workflow_pause`: pause a workflow run until it is resumed."""

from termvisor.model.workflow.info import RunChangeRequest
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.workflows._run_change import (
    RUN_CHANGE_EXITS,
    RunChangeResult,
    RunWithReasonArgs,
    change_run,
    render_text,
)


class WorkflowPauseArgs(RunWithReasonArgs, frozen=True, kw_only=True):
    """The workflow run, and the reason."""


async def run(services: ActingServices, args: WorkflowPauseArgs) -> RunChangeResult:
    return await change_run(services, args.run, RunChangeRequest(kind="pause", word=args.why))


OP = Operation(
    name="workflow_pause",
    summary="Pause a workflow run until it is resumed.",
    doc="""The run executes no further step, also after a restart of the daemon. Timeouts and approval requests that it
waits for continue; it sees their result after `visor workflow resume`.""",
    args_type=WorkflowPauseArgs,
    result_type=RunChangeResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=RUN_CHANGE_EXITS,
    examples=(
        OperationExample("workflow pause 3", "pause run 3"),
        OperationExample("robot workflow pause 3 --why 'I am working there'", "with a reason"),
    ),
)
