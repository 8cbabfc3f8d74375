"""The operation `workflow_dry_run`: show the steps of a workflow in a pane with the policy's verdicts."""

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_args import PaneReference
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.workflows._dry_run_item import WorkflowDryRunResult, build_dry_run_result, render_dry_run
from termvisor.ops.workflows.workflow_show import WorkflowName


class WorkflowDryRunArgs(Struct, frozen=True, kw_only=True):
    """The workflow and the pane."""

    name: WorkflowName
    pane: PaneReference


async def run(services: Services, args: WorkflowDryRunArgs) -> WorkflowDryRunResult:
    pane = await resolve_pane(services, args.pane)
    return build_dry_run_result(args.name, pane.id, await services.workflows.dry_run(args.name, pane.id))


OP = Operation(
    name="workflow_dry_run",
    summary="Show what a workflow would do in a pane, with the verdict on each step.",
    doc="""Reads the live pane, assumes that everything it waits for happens, and checks every action against the
policy. `ask` means that the action requires approval; `refused` is a precondition that the pane does not meet now.""",
    args_type=WorkflowDryRunArgs,
    result_type=WorkflowDryRunResult,
    run=run,
    render_text=render_dry_run,
    exit_statuses=((4, "Workflow or pane not found."),),
    examples=(
        OperationExample("workflow dry-run handle_compaction 7", "as a table"),
        OperationExample("robot workflow dry-run handle_compaction 7", "as JSON"),
    ),
)
