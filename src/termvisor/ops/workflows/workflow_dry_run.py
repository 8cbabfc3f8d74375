"""The op `workflow_dry_run`: what a workflow would do in a pane, and what would be said of it."""

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_args import PaneReference
from termvisor.ops.panes._listing import resolve_pane
from termvisor.ops.workflows._dry_run_item import WorkflowDryRunResult, build_dry_run_result, render_dry_run
from termvisor.ops.workflows.workflow_show import WorkflowName


class WorkflowDryRunArgs(Struct, frozen=True, kw_only=True):
    """Which workflow, where."""

    name: WorkflowName
    pane: PaneReference


async def run(services: Services, args: WorkflowDryRunArgs) -> WorkflowDryRunResult:
    pane = await resolve_pane(services, args.pane)
    return build_dry_run_result(args.name, pane.id, await services.workflows.dry_run(args.name, pane.id))


OP = Operation(
    name="workflow_dry_run",
    summary="What a workflow would do in a pane, with each step's verdict.",
    doc="""It looks at the live pane, takes for granted what it waits for, and asks the policy about every act. `ask`
means that a person would be asked; `refused` says what in the pane speaks against the act right now.""",
    args_type=WorkflowDryRunArgs,
    result_type=WorkflowDryRunResult,
    run=run,
    render_text=render_dry_run,
    exit_statuses=((4, "There is no such workflow or pane."),),
    examples=(
        OperationExample("workflow dry-run handle_compaction 7", "for people"),
        OperationExample("robot workflow dry-run handle_compaction 7", "as JSON"),
    ),
)
