"""The op `workflow_list`: the workflows that there are, and what each may do."""

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.workflow.run import Mode
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import Listing, counts
from termvisor.ops.render.text import Column, Look, clean, counted, table
from termvisor.redaction import redact


class ListWorkflows(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class WorkflowItem(Struct, frozen=True, kw_only=True):
    """``mode`` is the one in force. ``events`` start it; without any, only people and programs do. ``doubts`` are
    things that its file speaks of and nobody knows."""

    name: str
    mode: Mode
    events: tuple[str, ...]
    agents: tuple[str, ...]
    priority: int
    version: int
    origin: str
    summary: str
    doubts: tuple[str, ...] = ()


class BrokenFile(Struct, frozen=True, kw_only=True):
    """A file that is no workflow: where and why."""

    file: str
    why: str


class WorkflowsSummary(Struct, frozen=True, kw_only=True):
    workflows: int
    by_mode: dict[str, int]
    broken: int


class WorkflowListing(Listing, frozen=True, kw_only=True):
    """In the order in which they are asked whether an event is theirs."""

    summary: WorkflowsSummary
    items: tuple[WorkflowItem, ...]
    broken: tuple[BrokenFile, ...] = ()


async def run(world: World, _wanted: ListWorkflows) -> WorkflowListing:
    found, troubles = world.runs.workflows()
    items = tuple(
        WorkflowItem(
            name=one.name,
            mode=one.mode,
            events=one.events,
            agents=one.agents,
            priority=one.priority,
            version=one.version,
            origin=one.origin,
            summary=redact(one.summary),
            doubts=tuple(map(redact, one.doubts)),
        )
        for one in found
    )
    broken = tuple(BrokenFile(file=one.file, why=redact(one.why)) for one in troubles)
    summary = WorkflowsSummary(workflows=len(items), by_mode=counts(item.mode for item in items), broken=len(broken))
    return WorkflowListing(generated_at=iso(world.clock.now()), summary=summary, items=items, broken=broken)


COLUMNS = (
    Column("WORKFLOW", lambda item: item.name, style="cyan"),
    Column("MODE", lambda item: item.mode, style="bold"),
    Column("EVENTS", lambda item: " ".join(item.events) or "-", may_shrink=True),
    Column("AGENTS", lambda item: " ".join(item.agents) or "all", may_shrink=True),
    Column("ORIGIN", lambda item: item.origin, may_shrink=True),
    Column("WHAT IT DOES", lambda item: clean(item.summary), may_shrink=True),
)


def plain(listing: WorkflowListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look) if listing.items else "There are no workflows."
    wrong = [look.paint("red", clean(f"left out: {one.why}")) for one in listing.broken]
    wrong += [look.paint("yellow", clean(f"in doubt: {doubt}")) for one in listing.items for doubt in one.doubts]
    if look.is_quiet:
        return "\n".join([rows, *wrong])
    left_out = f", {listing.summary.broken} left out" if listing.broken else ""
    return "\n".join([rows, *wrong, "", counted(listing.summary.workflows, "workflow") + left_out])


OP = Op(
    name="workflow_list",
    aliases=("workflow", "workflows"),
    summary="The workflows that answer events, and what each may do.",
    doc="""A workflow answers an event, such as a compaction or a usage limit, step by step, and survives whatever
happens to the daemon. `mode` is `off`, `ask` (a person is asked about every action) or `on` (the policy alone decides);
`visor config set workflow_modes` changes it. Your own are files in the folder `workflows` beside `config.toml`; one
that is wrong is told here with its line, and left out. `in doubt` is one that speaks of an event, an agent or a rule
that nobody knows: it stands, and may never start.""",
    Input=ListWorkflows,
    Output=WorkflowListing,
    run=run,
    plain=plain,
    examples=(Example("workflow list", "for people"), Example("robot workflow list", "as JSON")),
)
