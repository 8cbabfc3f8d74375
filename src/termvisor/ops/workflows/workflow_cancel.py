"""The operation `workflow_cancel`: cancel a workflow run."""

from termvisor.model.workflow import ENDED_RUN_STATUSES, RunChangeRequest
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows import _workflow_runs


class WorkflowCancelArgs(_workflow_runs.RunWithReasonArgs, frozen=True, kw_only=True):
    """The workflow run, and the reason."""


def render_text(result: _workflow_runs.RunChangeResult, options: RenderOptions) -> str:
    run = result.run
    if options.is_quiet or run.status in ENDED_RUN_STATUSES:
        return _workflow_runs.render_run_change(result, options)
    # The run ends only after its current step and its cleanup.
    return f"run {run.id} ({run.workflow}) is being cancelled; `visor workflow history {run.id}` shows its end"


OP = _workflow_runs.declare_run_change(
    name="workflow_cancel",
    summary="Cancel a workflow run.",
    doc="""The current step is left as it is; the cleanup of the workflow runs once, and the event stays unhandled. A
cancelled run cannot be resumed.""",
    args_type=WorkflowCancelArgs,
    build_change=lambda args: RunChangeRequest(kind="cancel", word=args.why),
    render_text=render_text,
    examples=(
        OperationExample("workflow cancel 3", "cancel run 3"),
        OperationExample("robot workflow cancel 3 --why 'not today'", "with a reason"),
    ),
)
