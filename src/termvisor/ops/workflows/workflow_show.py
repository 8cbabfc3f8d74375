"""The operation `workflow_show`: show one workflow: triggers, mode, limits and steps."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import WorkflowNotFound
from termvisor.model.detection.rule import Severity
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.workflow import WorkflowInfo, WorkflowMode
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

WorkflowName = Annotated[str, Meta(description="The workflow's name.", extra={"positional": "one"})]


class WorkflowShowArgs(Struct, frozen=True, kw_only=True):
    """Choose the workflow."""

    name: WorkflowName


class WorkflowShowResult(Struct, frozen=True, kw_only=True):
    """It is started by ``events`` of at least this ``severity``, of these ``agents`` and ``rules`` (empty: all), not
    older than ``fresh_for`` seconds. ``steps`` are those of a workflow file; ``doubts`` are warnings: unknown events,
    agents or rules.
    """

    name: str
    version: int
    summary: str
    origin: str
    mode: WorkflowMode
    events: tuple[str, ...]
    agents: tuple[str, ...]
    rules: tuple[str, ...]
    severity: Severity
    fresh_for: float
    priority: int
    timeout: float
    takes_pane: bool
    steps: tuple[str, ...]
    doubts: tuple[str, ...] = ()


def find_workflow(services: Services, name: str) -> WorkflowInfo:
    """Return the workflow with this name. Raises WorkflowNotFound with a close name or the error in its file."""
    workflows, problems = services.workflows.list_workflows()
    by_name = {info.name: info for info in workflows}
    if name in by_name:
        return by_name[name]
    # The file exists but is invalid, so a list of other names would not help.
    if why := next((problem.why for problem in problems if problem.name == name), ""):
        raise WorkflowNotFound(f"workflow {name} is invalid: {why}", hint="Fix the file; it is reloaded on change.")
    near = find_close_matches(name, list(by_name))
    raise WorkflowNotFound(f"workflow {name!r} not found", hint=f"Did you mean {near[0]}?" if near else None)


async def run(services: Services, args: WorkflowShowArgs) -> WorkflowShowResult:
    info = find_workflow(services, args.name)
    return copy_fields(WorkflowShowResult, info, summary=redact(info.summary), steps=tuple(map(redact, info.steps)))


_FACT_COLUMNS = (
    TableColumn("FIELD", lambda fact: fact[0], style="bold"),
    TableColumn("VALUE", lambda fact: fact[1], can_shrink=True, kind="sentence"),
)


def render_text(result: WorkflowShowResult, options: RenderOptions) -> str:
    rows = [
        ("name", f"{result.name}, version {result.version}, from {result.origin}"),
        ("summary", result.summary),
        ("mode", result.mode),
        ("events", _format_events(result)),
        ("agents", " ".join(result.agents) or "all"),
        ("priority", str(result.priority)),
        ("timeout", f"{result.timeout:g} s"),
        *([("event age", f"up to {result.fresh_for:g} s")] if result.events else []),
        *((f"step {number}", step) for number, step in enumerate(result.steps)),
        *(("warning", doubt) for doubt in result.doubts),
    ]
    return render_table(_FACT_COLUMNS, [(name, sanitize(text)) for name, text in rows], options)


def _format_events(result: WorkflowShowResult) -> str:
    if not result.events:
        return "none; started with `visor workflow run`"
    severity = "" if result.severity == "info" else f", {result.severity} or worse"
    return " ".join(result.events) + (f", of the rules {' '.join(result.rules)}" if result.rules else "") + severity


OP = Operation(
    name="workflow_show",
    summary="Show one workflow: triggers, mode, limits and steps.",
    doc="""The steps of a workflow file are shown as parsed; those of a built-in workflow are in its code.
`visor workflow dry-run` shows what it would do in a pane.""",
    run=run,
    render_text=render_text,
    exit_statuses=((4, "Workflow not found."),),
    examples=(
        OperationExample("workflow show handle_compaction", "as a table"),
        OperationExample("robot workflow show handle_compaction", "as JSON"),
    ),
)
