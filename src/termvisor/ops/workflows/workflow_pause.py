"""The op `workflow_pause`: hold a run where it is, until somebody lets it go on."""

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
    """Which run, and why."""


async def run(services: ActingServices, args: WorkflowPauseArgs) -> RunChangeResult:
    return await change_run(services, args.run, RunChangeRequest(kind="pause", word=args.why))


OP = Operation(
    name="workflow_pause",
    summary="Hold a run where it is, until somebody lets it go on.",
    doc="""Nothing more is done for it, also after a restart. Times and questions that it waits for go on: when they
are over, it finds that out after `visor workflow resume`.""",
    args_type=WorkflowPauseArgs,
    result_type=RunChangeResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=RUN_CHANGE_EXITS,
    examples=(
        OperationExample("workflow pause 3", "hold it"),
        OperationExample("robot workflow pause 3 --why 'I am working there'", "and say why"),
    ),
)
