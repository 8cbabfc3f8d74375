"""The operation `workflow_resume`: resume a paused workflow run."""

from msgspec import Struct

from termvisor.model.workflow.info import RunChangeRequest
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.workflows._run_change import RUN_CHANGE_EXITS, RunChangeResult, change_run, render_text
from termvisor.ops.workflows._run_item import RunNumber


class WorkflowResumeArgs(Struct, frozen=True, kw_only=True):
    """Choose the run."""

    run: RunNumber


async def run(services: ActingServices, args: WorkflowResumeArgs) -> RunChangeResult:
    return await change_run(services, args.run, RunChangeRequest(kind="resume"))


OP = Operation(
    name="workflow_resume",
    summary="Resume a paused workflow run.",
    doc="""A run that paused by its own plan continues at once, before the planned time. Its actions are still checked
by the policy and may require approval.""",
    args_type=WorkflowResumeArgs,
    result_type=RunChangeResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=RUN_CHANGE_EXITS,
    examples=(
        OperationExample("workflow resume 3", "resume run 3"),
        OperationExample("robot workflow resume 3", "as JSON"),
    ),
)
