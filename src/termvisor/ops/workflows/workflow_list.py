"""The op `workflow_list`: the workflows that there are, and what each may do."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.workflow.run import WorkflowMode
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import BaseListing, count_values
from termvisor.ops.render.text import RenderOptions, TableColumn, pluralize, render_table, sanitize
from termvisor.redaction import redact


class WorkflowListArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class WorkflowItem(Struct, frozen=True, kw_only=True):
    """``mode`` is the one in force. ``events`` start it; without any, only people and programs do. ``doubts`` are
    things that its file speaks of and nobody knows."""

    name: str
    mode: WorkflowMode
    events: tuple[str, ...]
    agents: tuple[str, ...]
    priority: int
    version: int
    origin: str
    summary: str
    doubts: tuple[str, ...] = ()


class BrokenWorkflowFile(Struct, frozen=True, kw_only=True):
    """A file that is no workflow: where and why."""

    file: str
    why: str


class WorkflowsSummary(Struct, frozen=True, kw_only=True):
    workflows: int
    by_mode: dict[str, int]
    broken: int


class WorkflowListing(BaseListing, frozen=True, kw_only=True):
    """In the order in which they are asked whether an event is theirs."""

    summary: WorkflowsSummary
    items: tuple[WorkflowItem, ...]
    broken: tuple[BrokenWorkflowFile, ...] = ()


async def run(services: Services, _args: WorkflowListArgs) -> WorkflowListing:
    found, troubles = services.workflows.list_workflows()
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
    broken = tuple(BrokenWorkflowFile(file=one.file, why=redact(one.why)) for one in troubles)
    summary = WorkflowsSummary(
        workflows=len(items), by_mode=count_values(item.mode for item in items), broken=len(broken)
    )
    return WorkflowListing(
        generated_at=format_timestamp(services.clock.now()), summary=summary, items=items, broken=broken
    )


COLUMNS = (
    TableColumn("WORKFLOW", lambda item: item.name, style="cyan"),
    TableColumn("MODE", lambda item: item.mode, style="bold"),
    TableColumn("EVENTS", lambda item: " ".join(item.events) or "-", can_shrink=True),
    TableColumn("AGENTS", lambda item: " ".join(item.agents) or "all", can_shrink=True),
    TableColumn("ORIGIN", lambda item: item.origin, can_shrink=True),
    TableColumn("WHAT IT DOES", lambda item: sanitize(item.summary), can_shrink=True),
)


def render_text(result: WorkflowListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options) if result.items else "There are no workflows."
    wrong = [options.paint("red", sanitize(f"left out: {one.why}")) for one in result.broken]
    wrong += [options.paint("yellow", sanitize(f"in doubt: {doubt}")) for one in result.items for doubt in one.doubts]
    if options.is_quiet:
        return "\n".join([rows, *wrong])
    left_out = f", {result.summary.broken} left out" if result.broken else ""
    return "\n".join([rows, *wrong, "", pluralize(result.summary.workflows, "workflow") + left_out])


OP = Operation(
    name="workflow_list",
    aliases=("workflow", "workflows"),
    summary="The workflows that answer events, and what each may do.",
    doc="""A workflow answers an event, such as a compaction or a usage limit, step by step, and survives whatever
happens to the daemon. `mode` is `off`, `ask` (a person is asked about every action) or `on` (the policy alone decides);
`visor config set workflow_modes` changes it. Your own are files in the folder `workflows` beside `config.toml`; one
that is wrong is told here with its line, and left out. `in doubt` is one that speaks of an event, an agent or a rule
that nobody knows: it stands, and may never start.""",
    args_type=WorkflowListArgs,
    result_type=WorkflowListing,
    run=run,
    render_text=render_text,
    examples=(OperationExample("workflow list", "for people"), OperationExample("robot workflow list", "as JSON")),
)
