"""The op `workflow_resume`: let a run go on: one that is held, or one in its own pause."""

from msgspec import Struct

from termvisor.model.workflow.info import RunChangeRequest
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.workflows._run_change import RUN_CHANGE_EXITS, RunChangeResult, change_run, render_text
from termvisor.ops.workflows._run_item import RunNumber


class WorkflowResumeArgs(Struct, frozen=True, kw_only=True):
    """Which run."""

    run: RunNumber


async def run(services: ActingServices, args: WorkflowResumeArgs) -> RunChangeResult:
    return await change_run(services, args.run, RunChangeRequest(kind="resume"))


OP = Operation(
    name="workflow_resume",
    summary="Let a run go on: one that is held, or one in its own pause.",
    doc="""A run in a pause of its own goes on at once, before the time of its plan. Whatever it does then is judged,
and where needed asked about, as ever.""",
    args_type=WorkflowResumeArgs,
    result_type=RunChangeResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=RUN_CHANGE_EXITS,
    examples=(
        OperationExample("workflow resume 3", "go on"),
        OperationExample("robot workflow resume 3", "as JSON"),
    ),
)
