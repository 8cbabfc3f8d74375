"""The op `workflow_status`: runs of workflows, those that go on and those that ended."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import format_timestamp
from termvisor.model.workflow.run import Run, RunFilter, RunStatus
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import BaseListing, PaneFilter, build_filters, count_values, resolve_pane
from termvisor.ops.render.text import RenderOptions, pluralize, render_table
from termvisor.ops.workflows._run_item import RUN_COLUMNS, RunItem, build_run_item

_OPEN_STATUSES: tuple[RunStatus, ...] = ("running", "waiting", "paused")


class WorkflowStatusArgs(Struct, frozen=True, kw_only=True):
    """Which runs."""

    workflow: Annotated[str | None, Meta(description="Only of this workflow.")] = None
    pane: PaneFilter = None
    all: Annotated[bool, Meta(description="Also those that ended.")] = False
    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=1000, extra={"short": ("-n",)})] = 20


class RunsSummary(Struct, frozen=True, kw_only=True):
    runs: int
    by_status: dict[str, int]


class RunListing(BaseListing, frozen=True, kw_only=True):
    """The newest runs, oldest first."""

    summary: RunsSummary
    items: tuple[RunItem, ...]


async def run(services: Services, args: WorkflowStatusArgs) -> RunListing:
    pane = None if args.pane is None else (await resolve_pane(services, args.pane)).id
    only = RunFilter(workflow=args.workflow, pane=pane, statuses=() if args.all else _OPEN_STATUSES)
    now = services.clock.now()
    items = tuple(
        [await _build_item(services, one, now) for one in await services.workflows.list_runs(only, args.limit)]
    )
    return RunListing(
        generated_at=format_timestamp(now),
        filters=build_filters(workflow=args.workflow, pane=args.pane, all=args.all),
        summary=RunsSummary(runs=len(items), by_status=count_values(item.status for item in items)),
        items=items,
    )


async def _build_item(services: Services, run: Run, now: int) -> RunItem:
    """One that works says what it is at."""
    if run.status != "running" or run.why:
        return build_run_item(run, now)
    _, steps = await services.workflows.get_run(run.id)
    at = f"at step {steps[-1].number}, {steps[-1].kind} {steps[-1].name}".strip() if steps else ""
    return build_run_item(replace(run, why=at), now)


def render_text(result: RunListing, options: RenderOptions) -> str:
    if not result.items:
        return "" if options.is_quiet else _format_empty(result)
    rows = render_table(RUN_COLUMNS, result.items, options)
    plans = [f"run {item.id}: {item.plan}" for item in result.items if item.plan]
    return rows if options.is_quiet else "\n".join([rows, *plans, "", pluralize(result.summary.runs, "run")])


def _format_empty(listing: RunListing) -> str:
    if listing.filters.get("all"):
        return "No workflow has run."
    return "No workflow is under way. `visor workflow status --all` shows those that ended."


OP = Operation(
    name="workflow_status",
    summary="Runs of workflows: what is under way, what waits and for what.",
    doc="""`waiting` is for a turn, a person, a time; `paused` has a plan, or a person holds it. `--all` also shows
those that are `completed`, `failed` or `cancelled`; `visor workflow history` shows the steps of one.""",
    args_type=WorkflowStatusArgs,
    result_type=RunListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("workflow status", "what is under way"),
        OperationExample("workflow status --all --pane 7", "everything of one pane"),
        OperationExample("robot workflow status --all --limit 5", "the newest, as JSON"),
    ),
)
