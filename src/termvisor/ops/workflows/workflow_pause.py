"""The operation `workflow_pause`: pause a workflow run until it is resumed."""

from termvisor.model.workflow import RunChangeRequest
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.workflows._workflow_runs import RunWithReasonArgs, declare_run_change


class WorkflowPauseArgs(RunWithReasonArgs, frozen=True, kw_only=True):
    """The workflow run, and the reason."""


OP = declare_run_change(
    name="workflow_pause",
    summary="Pause a workflow run until it is resumed.",
    doc="""The run executes no further step, also after a restart of the daemon. Timeouts and approval requests that it
waits for continue; it sees their result after `visor workflow resume`.""",
    args_type=WorkflowPauseArgs,
    build_change=lambda args: RunChangeRequest(kind="pause", word=args.why),
    examples=(
        OperationExample("workflow pause 3", "pause run 3"),
        OperationExample("robot workflow pause 3 --why 'I am working there'", "with a reason"),
    ),
)
