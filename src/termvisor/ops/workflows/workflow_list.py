"""The operation `workflow_list`: list workflows, their mode and the events that start them."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.workflow import WorkflowMode
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import BaseListing, copy_fields, count_values
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize
from termvisor.redaction import redact


class WorkflowListArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class WorkflowItem(Struct, frozen=True, kw_only=True):
    """``mode`` is the effective mode. ``events`` start the workflow; without any, it is only started by command.
    ``doubts`` are warnings: unknown events, agents or rules in its file."""

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
    """An invalid workflow file and its error."""

    file: str
    why: str


class WorkflowsSummary(Struct, frozen=True, kw_only=True):
    workflows: int
    by_mode: dict[str, int]
    broken: int


class WorkflowListing(BaseListing, frozen=True, kw_only=True):
    """Workflows, in the order in which an event is offered to them."""

    summary: WorkflowsSummary
    items: tuple[WorkflowItem, ...]
    broken: tuple[BrokenWorkflowFile, ...] = ()


async def run(services: Services, _args: WorkflowListArgs) -> WorkflowListing:
    workflows, problems = services.workflows.list_workflows()
    items = tuple(
        copy_fields(WorkflowItem, info, summary=redact(info.summary), doubts=tuple(map(redact, info.doubts)))
        for info in workflows
    )
    broken = tuple(BrokenWorkflowFile(file=problem.file, why=redact(problem.why)) for problem in problems)
    summary = WorkflowsSummary(
        workflows=len(items), by_mode=count_values(item.mode for item in items), broken=len(broken)
    )
    return WorkflowListing(
        generated_at=format_timestamp(services.clock.now()), summary=summary, items=items, broken=broken
    )


COLUMNS = (
    TableColumn("WORKFLOW", lambda item: item.name, style="cyan"),
    TableColumn("MODE", lambda item: item.mode, style="bold"),
    TableColumn("EVENTS", lambda item: " ".join(item.events) or "-", can_shrink=True, min_width=14, worth=3),
    TableColumn("AGENTS", lambda item: " ".join(item.agents) or "all", can_shrink=True, worth=2),
    TableColumn("ORIGIN", lambda item: item.origin, can_shrink=True, worth=1),
    TableColumn("SUMMARY", lambda item: sanitize(item.summary), can_shrink=True, min_width=24),
)


def render_text(result: WorkflowListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options) if result.items else "No workflows."
    problems = [options.paint("red", sanitize(f"error: {broken.why}")) for broken in result.broken]
    problems += [
        options.paint("yellow", sanitize(f"warning: {doubt}")) for item in result.items for doubt in item.doubts
    ]
    if options.is_quiet:
        return "\n".join([rows, *problems])
    invalid = f", {pluralize(result.summary.broken, 'invalid file')}" if result.broken else ""
    return "\n".join([rows, *problems, "", pluralize(result.summary.workflows, "workflow") + invalid])


OP = Operation(
    name="workflow_list",
    aliases=("workflow", "workflows"),
    summary="List workflows, their mode and the events that start them.",
    doc="""A workflow handles an event, such as a compaction or a usage limit, step by step, and survives daemon
restarts. `mode` is `off`, `ask` (every action requires approval) or `on` (the policy alone decides); `visor config set
workflow_modes` changes it. Your own workflows are files in the directory `workflows` beside `config.toml`; an invalid
one is listed with its error and ignored. A warning names an unknown event, agent or rule: the workflow is active but
may never start.""",
    run=run,
    render_text=render_text,
    examples=(OperationExample("workflow list", "as a table"), OperationExample("robot workflow list", "as JSON")),
)
