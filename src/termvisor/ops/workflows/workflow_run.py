"""The op `workflow_run`: start a workflow in a pane."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import Refused
from termvisor.model.action.action import RunWorkflow
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import PaneReference
from termvisor.ops.panes._listing import resolve_pane
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._dry_run_item import WorkflowDryRunResult, build_dry_run_result, render_dry_run
from termvisor.ops.workflows._run_item import RunItem, build_run_item, format_headline
from termvisor.ops.workflows.workflow_show import WorkflowName
from termvisor.ops.workflows.workflow_show import find_workflow as workflow


class WorkflowRunArgs(Struct, frozen=True, kw_only=True):
    """Which workflow, where."""

    name: WorkflowName
    pane: PaneReference
    force: Annotated[
        bool, Meta(description="Also where nothing that it answers was seen; policy, lock and guards hold as ever.")
    ] = False
    dry_run: Annotated[bool, Meta(description="Show each step and its verdict; nothing is done.")] = False


class WorkflowRunResult(Struct, frozen=True, kw_only=True):
    """``run`` is the one that began; in a rehearsal there is none, and ``rehearsal`` tells the steps."""

    run: RunItem | None = None
    rehearsal: WorkflowDryRunResult | None = None


def build_mode_off_error(name: str) -> Refused:
    return Refused(f"{name} is off", hint=f"`visor config set workflow_modes {name}=ask` lets it run.")


async def run(services: ActingServices, args: WorkflowRunArgs) -> WorkflowRunResult:
    pane = (await resolve_pane(services, args.pane)).id
    if args.dry_run:
        told = await services.workflows.dry_run(args.name, pane)
        return WorkflowRunResult(rehearsal=build_dry_run_result(args.name, pane, told))
    if (info := workflow(services, args.name)).mode == "off":  # nobody is asked about what cannot be
        raise build_mode_off_error(info.name)
    await services.gate.run(RunWorkflow(workflow=args.name, pane=pane, is_forced=args.force), Preconditions())
    begun = await services.workflows.start_run(args.name, pane, services.gate.actor, force=args.force)
    return WorkflowRunResult(run=build_run_item(begun, services.clock.now()))


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
    doc="""Without `--force` it starts only where something that it answers was seen lately, and once for each such
event. It waits for its turn: a pane has one run at a time. Every act of it is judged, and in the mode `ask` asked
about, whoever started it.""",
    args_type=WorkflowRunArgs,
    result_type=WorkflowRunResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=(
        (4, "There is no such workflow or pane."),
        (75, "Nothing that it answers was seen there, or that was answered already."),
        (77, "It is off, or the policy says no."),
    ),
    examples=(
        OperationExample("workflow run handle_compaction 7", "answer what was seen there"),
        OperationExample("workflow run handle_compaction 7 --force", "in any case"),
        OperationExample("robot workflow run handle_compaction 7 --dry-run", "only show what it would do"),
    ),
)
