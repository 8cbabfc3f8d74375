"""The operation `workflow_resume`: resume a paused workflow run."""

from msgspec import Struct

from termvisor.model.workflow import RunChangeRequest
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.workflows._workflow_runs import RunNumber, declare_run_change


class WorkflowResumeArgs(Struct, frozen=True, kw_only=True):
    """Choose the run."""

    run: RunNumber


OP = declare_run_change(
    name="workflow_resume",
    summary="Resume a paused workflow run.",
    doc="""A run that paused by its own plan continues at once, before the planned time. Its actions are still checked
by the policy and may require approval.""",
    args_type=WorkflowResumeArgs,
    build_change=lambda _args: RunChangeRequest(kind="resume"),
    examples=(
        OperationExample("workflow resume 3", "resume run 3"),
        OperationExample("robot workflow resume 3", "as JSON"),
    ),
)
