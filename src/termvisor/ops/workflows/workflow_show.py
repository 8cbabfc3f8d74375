"""The op `workflow_show`: one workflow with all that is declared of it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import WorkflowNotFound
from termvisor.model.detection.rule import Severity
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.workflow.info import WorkflowInfo
from termvisor.model.workflow.run import WorkflowMode
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, TableColumn, render_table, sanitize
from termvisor.redaction import redact

WorkflowName = Annotated[str, Meta(description="The workflow's name.", extra={"positional": "one"})]


class WorkflowShowArgs(Struct, frozen=True, kw_only=True):
    """Which one."""

    name: WorkflowName


class WorkflowShowResult(Struct, frozen=True, kw_only=True):
    """What starts it: ``events`` of at least this ``severity``, by these ``agents`` and ``rules`` where any are named,
    not older than ``fresh_for`` seconds. ``steps`` are those of a file; ``doubts`` are things that it speaks of and
    nobody knows.
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
    """`NoWorkflow` says which one may be meant, or what is wrong with its file."""
    found, troubles = services.workflows.list_workflows()
    info = next((one for one in found if one.name == name), None)
    if info is not None:
        return info
    if why := next((one.why for one in troubles if one.name == name), ""):
        raise WorkflowNotFound(f"{name} is left out: {why}", hint="Mend that line; the file is read again by itself.")
    near = find_close_matches(name, [one.name for one in found])
    raise WorkflowNotFound(f"there is no workflow {name!r}", hint=f"Did you mean {near[0]}?" if near else None)


async def run(services: Services, args: WorkflowShowArgs) -> WorkflowShowResult:
    info = find_workflow(services, args.name)
    fields = {name: getattr(info, name) for name in WorkflowShowResult.__struct_fields__}
    fields |= {"summary": redact(info.summary), "steps": tuple(map(redact, info.steps))}
    return WorkflowShowResult(**fields)


_FACT_COLUMNS = (
    TableColumn("WHAT", lambda fact: fact[0], style="bold"),
    TableColumn("HOW IT IS", lambda fact: fact[1], can_shrink=True),
)


def render_text(result: WorkflowShowResult, options: RenderOptions) -> str:
    rows = [
        ("name", f"{result.name}, version {result.version}, from {result.origin}"),
        ("does", result.summary),
        ("mode", result.mode),
        ("events", _format_events(result)),
        ("agents", " ".join(result.agents) or "all"),
        ("priority", str(result.priority)),
        (
            "time",
            f"{result.timeout:g} s of work" + (f"; events up to {result.fresh_for:g} s old" if result.events else ""),
        ),
        *((f"step {number}", step) for number, step in enumerate(result.steps)),
        *(("doubt", doubt) for doubt in result.doubts),
    ]
    return render_table(_FACT_COLUMNS, [(name, sanitize(text)) for name, text in rows], options)


def _format_events(result: WorkflowShowResult) -> str:
    if not result.events:
        return "none: it is started by people and programs"
    severe = "" if result.severity == "info" else f", {result.severity} or worse"
    return " ".join(result.events) + (f", by the rules {' '.join(result.rules)}" if result.rules else "") + severe


OP = Operation(
    name="workflow_show",
    summary="One workflow: what starts it, what it may do, its steps.",
    doc="""The steps of a file are shown as they were understood; those of a built-in workflow are in its code.
`visor workflow dry-run` shows what it would do in a pane.""",
    args_type=WorkflowShowArgs,
    result_type=WorkflowShowResult,
    run=run,
    render_text=render_text,
    exit_statuses=((4, "There is no such workflow."),),
    examples=(
        OperationExample("workflow show handle_compaction", "for people"),
        OperationExample("robot workflow show handle_compaction", "as JSON"),
    ),
)
