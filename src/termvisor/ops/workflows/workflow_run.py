"""The operation `workflow_run`: start a workflow in a pane, or show a dry run."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import NotPermitted
from termvisor.model.action.action import RunWorkflow
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.workflow import ENDED_RUN_STATUSES, Run, RunStatus, RunStep
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneReference, resolve_pane
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._workflow_runs import (
    RunItem,
    build_run_item,
    build_step_item,
    format_headline,
    format_step_value,
)
from termvisor.ops.workflows.workflow_dry_run import WorkflowDryRunResult, build_dry_run_result, render_dry_run
from termvisor.ops.workflows.workflow_show import WorkflowName, find_workflow

_ACTIVE_STATUSES: tuple[RunStatus, ...] = ("running", "waiting")
_POLL_INTERVAL_S = 0.1


class WorkflowRunArgs(Struct, frozen=True, kw_only=True):
    """The workflow and the pane."""

    name: WorkflowName
    pane: PaneReference
    force: Annotated[
        bool, Meta(description="Start even without an event to handle; policy, lock and guards still apply.")
    ] = False
    wait: Annotated[
        float, Meta(description="Wait up to this many seconds for the run to end or to pause.", ge=0, le=604_800)
    ] = 0.0
    dry_run: Annotated[bool, Meta(description="Show each step and its verdict without doing anything.")] = False


class WorkflowRunResult(Struct, frozen=True, kw_only=True):
    """``run`` is the started run, ``rehearsal`` the steps of a dry run; the other one is null. ``happened`` says in a
    sentence how far the run is, ``changed`` lists the actions that it executed so far.
    """

    run: RunItem | None = None
    happened: str = ""
    changed: tuple[str, ...] = ()
    rehearsal: WorkflowDryRunResult | None = None


async def run(services: Services, args: WorkflowRunArgs) -> WorkflowRunResult:
    pane = (await resolve_pane(services, args.pane)).id
    if args.dry_run:
        dry_run = await services.workflows.dry_run(args.name, pane)
        return WorkflowRunResult(rehearsal=build_dry_run_result(args.name, pane, dry_run))
    # Checked before the gate, because a workflow that is off must not create an approval request.
    if (info := find_workflow(services, args.name)).mode == "off":
        hint = f"Enable it: `visor config set workflows.{info.name} ask`."
        raise NotPermitted(f"workflow {info.name} is off", hint=hint)
    # Starting a workflow is an action like any other: the policy applies, and it is written to the audit log.
    await services.gate.run(RunWorkflow(workflow=args.name, pane=pane, is_forced=args.force), Preconditions())
    started = await services.workflows.start_run(args.name, pane, services.gate.actor, force=args.force)
    reached, steps = await _follow_run(services, started, args.wait)
    item = build_run_item(reached, services.clock.now())
    return WorkflowRunResult(run=item, happened=format_headline(item, RenderOptions()), changed=_list_changes(steps))


async def _follow_run(services: Services, started: Run, seconds: float) -> tuple[Run, Sequence[RunStep]]:
    """Return the run with its steps once it has ended or paused, or after this many seconds."""
    deadline = services.clock.monotonic() + seconds
    reached, steps = await services.workflows.get_run(started.id)
    while reached.status in _ACTIVE_STATUSES and (left := deadline - services.clock.monotonic()) > 0:
        # The journal is written by the engine, which publishes nothing about its steps.
        await services.clock.sleep(min(left, _POLL_INTERVAL_S))
        reached, steps = await services.workflows.get_run(started.id)
    return reached, steps


def _list_changes(steps: Sequence[RunStep]) -> tuple[str, ...]:
    """Describe the executed actions: `step 3, send: text: hello`."""
    items = [build_step_item(step) for step in steps if step.kind == "act" and step.status == "completed"]
    return tuple(f"step {item.number}, {item.name or item.kind}: {format_step_value(item.given)}" for item in items)


def get_hint(result: WorkflowRunResult) -> str | None:
    """Return what to do next about the run."""
    run = result.run
    if run is None or run.status == "completed":
        return None
    if run.status in ENDED_RUN_STATUSES:
        return f"`visor workflow history {run.id}` shows the failed step."
    if run.status == "paused":
        return f"`visor workflow resume {run.id}` continues it now."
    approval = "`visor inbox` shows what waits for a person; " if run.status == "waiting" else ""
    return f"{approval}`visor workflow history {run.id}` shows how far it is."


def render_text(result: WorkflowRunResult, options: RenderOptions) -> str:
    if result.rehearsal is not None:
        return render_dry_run(result.rehearsal, options)
    if result.run is None:
        return ""
    number = result.run.id
    if options.is_quiet:
        return str(number)
    return "\n".join([result.happened, *result.changed, f"`visor workflow history {number}` shows its steps"])


OP = Operation(
    name="workflow_run",
    summary="Start a workflow in a pane.",
    doc="""Without `--force` it starts only if there is a recent event that it handles, and once per event. A pane has
one run at a time; others wait. Every action of the run is checked by the policy and, in the mode `ask`, requires
approval, also if you started the run. With `--wait` the answer says how the run ended, what it changed and what to do
next.""",
    run=run,
    render_text=render_text,
    get_hint=get_hint,
    effect="change",
    exit_statuses=(
        (4, "Workflow or pane not found."),
        (75, "There is no recent event to handle, or it was already handled."),
        (77, "The workflow is off, or the policy denies it."),
    ),
    examples=(
        OperationExample("workflow run handle_compaction 7", "handle the latest compaction in pane 7"),
        OperationExample("workflow run handle_compaction 7 --force", "even without an event"),
        OperationExample("robot workflow run handle_compaction 7 --wait 60", "and tell how it ended, as JSON"),
        OperationExample("robot workflow run handle_compaction 7 --dry-run", "only show what it would do"),
    ),
)
