"""The operation `workflow_status`: list workflow runs."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import format_timestamp
from termvisor.model.workflow import Run, RunFilter, RunStatus
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneFilter, resolve_pane
from termvisor.ops.render.results import BaseListing, build_filters, count_values
from termvisor.ops.render.table import render_table
from termvisor.ops.render.text import RenderOptions, pluralize
from termvisor.ops.workflows._workflow_runs import RUN_COLUMNS, RunItem, build_run_item

# Runs that can still change.
_OPEN_STATUSES: tuple[RunStatus, ...] = ("running", "waiting", "paused")


class WorkflowStatusArgs(Struct, frozen=True, kw_only=True):
    """Choose the runs."""

    workflow: Annotated[str | None, Meta(description="Only runs of this workflow.")] = None
    pane: PaneFilter = None
    all: Annotated[bool, Meta(description="Include ended runs.")] = False
    limit: Annotated[int, Meta(description="Maximum number of runs.", ge=1, le=1000, extra={"short": ("-n",)})] = 20


class RunsSummary(Struct, frozen=True, kw_only=True):
    runs: int
    by_status: dict[str, int]


class RunListing(BaseListing, frozen=True, kw_only=True):
    """The newest runs, oldest first."""

    summary: RunsSummary
    items: tuple[RunItem, ...]


async def run(services: Services, args: WorkflowStatusArgs) -> RunListing:
    pane = None if args.pane is None else (await resolve_pane(services, args.pane)).id
    run_filter = RunFilter(workflow=args.workflow, pane=pane, statuses=() if args.all else _OPEN_STATUSES)
    now, runs = services.clock.now(), await services.workflows.list_runs(run_filter, args.limit)
    items = tuple([await _build_item(services, run, now) for run in runs])
    return RunListing(
        generated_at=format_timestamp(now),
        filters=build_filters(workflow=args.workflow, pane=args.pane, all=args.all),
        summary=RunsSummary(runs=len(items), by_status=count_values(item.status for item in items)),
        items=items,
    )


async def _build_item(services: Services, run: Run, now: int) -> RunItem:
    """Build the item; a running run shows its current step as ``why``."""
    # The ``why`` of a waiting or paused run is already what it waits for.
    if run.status != "running" or run.why:
        return build_run_item(run, now)
    _, steps = await services.workflows.get_run(run.id)
    current = f"at step {steps[-1].number}, {steps[-1].kind} {steps[-1].name}".strip() if steps else ""
    return build_run_item(replace(run, why=current), now)


def render_text(result: RunListing, options: RenderOptions) -> str:
    if not result.items:
        return "" if options.is_quiet else _format_empty(result)
    rows = render_table(RUN_COLUMNS, result.items, options)
    plans = [f"run {item.id}: {item.plan}" for item in result.items if item.plan]
    return rows if options.is_quiet else "\n".join([rows, *plans, "", pluralize(result.summary.runs, "run")])


def _format_empty(listing: RunListing) -> str:
    if listing.filters.get("all"):
        return "No workflow runs."
    return "No active workflow runs. `visor workflow status --all` includes ended ones."


OP = Operation(
    name="workflow_status",
    summary="List workflow runs and what each is waiting for.",
    doc="""A `waiting` run waits for the pane's lock, an approval or a time; a `paused` run has a planned time, or was
paused by a person. `--all` includes runs that are `completed`, `failed` or `cancelled`; `visor workflow history` shows
the steps of one.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("workflow status", "active runs"),
        OperationExample("workflow status --all --pane 7", "all runs of one pane"),
        OperationExample("robot workflow status --all --limit 5", "the newest runs, as JSON"),
    ),
)
