"""The op `workflow_status`: runs of workflows, those that go on and those that ended."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import iso
from termvisor.model.workflow.run import Run, RunFilter, RunStatus
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import Listing, PaneFilter, counts, filters, named
from termvisor.ops.render.text import Look, counted, table
from termvisor.ops.workflows._run_item import RUN_COLUMNS, RunItem, run_item

_OPEN: tuple[RunStatus, ...] = ("running", "waiting", "paused")


class WorkflowStatus(Struct, frozen=True, kw_only=True):
    """Which runs."""

    workflow: Annotated[str | None, Meta(description="Only of this workflow.")] = None
    pane: PaneFilter = None
    all: Annotated[bool, Meta(description="Also those that ended.")] = False
    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=1000, extra={"short": ("-n",)})] = 20


class RunsSummary(Struct, frozen=True, kw_only=True):
    runs: int
    by_status: dict[str, int]


class RunListing(Listing, frozen=True, kw_only=True):
    """The newest runs, oldest first."""

    summary: RunsSummary
    items: tuple[RunItem, ...]


async def run(world: World, wanted: WorkflowStatus) -> RunListing:
    pane = None if wanted.pane is None else (await named(world, wanted.pane)).id
    only = RunFilter(workflow=wanted.workflow, pane=pane, statuses=() if wanted.all else _OPEN)
    now = world.clock.now()
    items = tuple([await _item(world, one, now) for one in await world.runs.list(only, wanted.limit)])
    return RunListing(
        generated_at=iso(now),
        filters=filters(workflow=wanted.workflow, pane=wanted.pane, all=wanted.all),
        summary=RunsSummary(runs=len(items), by_status=counts(item.status for item in items)),
        items=items,
    )


async def _item(world: World, run: Run, now: int) -> RunItem:
    """One that works says what it is at."""
    if run.status != "running" or run.why:
        return run_item(run, now)
    _, steps = await world.runs.one(run.id)
    at = f"at step {steps[-1].number}, {steps[-1].kind} {steps[-1].name}".strip() if steps else ""
    return run_item(replace(run, why=at), now)


def plain(listing: RunListing, look: Look) -> str:
    if not listing.items:
        return "" if look.is_quiet else _nothing(listing)
    rows = table(RUN_COLUMNS, listing.items, look)
    plans = [f"run {item.id}: {item.plan}" for item in listing.items if item.plan]
    return rows if look.is_quiet else "\n".join([rows, *plans, "", counted(listing.summary.runs, "run")])


def _nothing(listing: RunListing) -> str:
    if listing.filters.get("all"):
        return "No workflow has run."
    return "No workflow is under way. `visor workflow status --all` shows those that ended."


OP = Op(
    name="workflow_status",
    summary="Runs of workflows: what is under way, what waits and for what.",
    doc="""`waiting` is for a turn, a person, a time; `paused` has a plan, or a person holds it. `--all` also shows
those that are `completed`, `failed` or `cancelled`; `visor workflow history` shows the steps of one.""",
    Input=WorkflowStatus,
    Output=RunListing,
    run=run,
    plain=plain,
    examples=(
        Example("workflow status", "what is under way"),
        Example("workflow status --all --pane 7", "everything of one pane"),
        Example("robot workflow status --all --limit 5", "the newest, as JSON"),
    ),
)
