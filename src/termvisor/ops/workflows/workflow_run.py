"""The operation `workflow_run`: start a workflow in a pane, or show a dry run."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import NotPermitted
from termvisor.model.action.action import RunWorkflow
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneReference, resolve_pane
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._workflow_runs import RunItem, build_run_item, format_headline
from termvisor.ops.workflows.workflow_dry_run import WorkflowDryRunResult, build_dry_run_result, render_dry_run
from termvisor.ops.workflows.workflow_show import WorkflowName, find_workflow


class WorkflowRunArgs(Struct, frozen=True, kw_only=True):
    """The workflow and the pane."""

    name: WorkflowName
    pane: PaneReference
    force: Annotated[
        bool, Meta(description="Start even without an event to handle; policy, lock and guards still apply.")
    ] = False
    dry_run: Annotated[bool, Meta(description="Show each step and its verdict without doing anything.")] = False


class WorkflowRunResult(Struct, frozen=True, kw_only=True):
    """``run`` is the started run, ``rehearsal`` the steps of a dry run; the other one is null."""

    run: RunItem | None = None
    rehearsal: WorkflowDryRunResult | None = None


async def run(services: Services, args: WorkflowRunArgs) -> WorkflowRunResult:
    pane = (await resolve_pane(services, args.pane)).id
    if args.dry_run:
        dry_run = await services.workflows.dry_run(args.name, pane)
        return WorkflowRunResult(rehearsal=build_dry_run_result(args.name, pane, dry_run))
    # Checked before the gate, because a workflow that is off must not create an approval request.
    if (info := find_workflow(services, args.name)).mode == "off":
        hint = f"Enable it: `visor config set workflow_modes {info.name}=ask`."
        raise NotPermitted(f"workflow {info.name} is off", hint=hint)
    # Starting a workflow is an action like any other: the policy applies, and it is written to the audit log.
    await services.gate.run(RunWorkflow(workflow=args.name, pane=pane, is_forced=args.force), Preconditions())
    started = await services.workflows.start_run(args.name, pane, services.gate.actor, force=args.force)
    return WorkflowRunResult(run=build_run_item(started, services.clock.now()))


def render_text(result: WorkflowRunResult, options: RenderOptions) -> str:
    if result.rehearsal is not None:
        return render_dry_run(result.rehearsal, options)
    if result.run is None:
        return ""
    number = result.run.id
    if options.is_quiet:
        return str(number)
    return f"{format_headline(result.run)}\n`visor workflow history {number}` shows its steps"


OP = Operation(
    name="workflow_run",
    summary="Start a workflow in a pane.",
    doc="""Without `--force` it starts only if there is a recent event that it handles, and once per event. A pane has
one run at a time; others wait. Every action of the run is checked by the policy and, in the mode `ask`, requires
approval, also if you started the run.""",
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=(
        (4, "Workflow or pane not found."),
        (75, "There is no recent event to handle, or it was already handled."),
        (77, "The workflow is off, or the policy denies it."),
    ),
    examples=(
        OperationExample("workflow run handle_compaction 7", "handle the latest compaction in pane 7"),
        OperationExample("workflow run handle_compaction 7 --force", "even without an event"),
        OperationExample("robot workflow run handle_compaction 7 --dry-run", "only show what it would do"),
    ),
)
