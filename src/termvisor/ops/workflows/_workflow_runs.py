"""Items for workflow runs and their steps, and the declaration of operations that change a run."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, Struct

from termvisor.clock import compute_seconds_between, format_timestamp
from termvisor.model.action.action import UpdateRecords
from termvisor.model.workflow import (
    ENDED_RUN_STATUSES,
    Run,
    RunChangeRequest,
    RunId,
    RunStatus,
    RunStep,
    StepStatus,
    WorkflowMode,
)
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields, format_optional_timestamp
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, format_age, format_moment, sanitize, shorten
from termvisor.redaction import redact

RunNumber = Annotated[
    int, Meta(description="The run's number in `visor workflow status`.", ge=1, extra={"positional": "one"})
]


class RunItem(Struct, frozen=True, kw_only=True):
    """``why`` is how it ended or what it waits for; ``plan`` is what a paused run does next, at ``due_at``."""

    detail_fields: ClassVar[tuple[str, ...]] = ("version", "origin", "mode", "began_at", "correlation")

    id: int
    workflow: str
    version: int
    status: RunStatus
    why: str
    plan: str
    origin: str
    event: int | None
    pane: int | None
    agent: str
    mode: WorkflowMode
    began_at: str
    ended_at: str | None
    due_at: str | None
    age: float
    """Seconds since the start; for an ended run, its duration."""
    facts: dict[str, Any]
    correlation: str


class StepItem(Struct, frozen=True, kw_only=True):
    """``given`` is the input of the step, ``came`` its output; both redacted."""

    number: int
    kind: str
    name: str
    status: StepStatus
    attempt: int
    began_at: str
    ended_at: str | None
    why: str
    given: Any
    came: Any


def build_run_item(run: Run, now: int) -> RunItem:
    return copy_fields(
        RunItem,
        run,
        why=sanitize(redact(run.why)),
        plan=redact(run.plan),
        began_at=format_timestamp(run.at),
        ended_at=format_optional_timestamp(run.ended_at),
        due_at=format_optional_timestamp(run.due_at),
        age=max(0.0, compute_seconds_between(run.at, now if run.ended_at is None else run.ended_at)),
        facts={name: redact(value) if isinstance(value, str) else value for name, value in run.facts.items()},
    )


def build_step_item(step: RunStep) -> StepItem:
    return copy_fields(
        StepItem,
        step,
        began_at=format_timestamp(step.at),
        ended_at=format_optional_timestamp(step.ended_at),
        why=sanitize(redact(step.why)),
        given=_decode_json(step.given),
        came=_decode_json(step.came),
    )


def _decode_json(text: str) -> Any:
    try:
        return msgspec.json.decode(redact(text)) if text else None
    except msgspec.DecodeError:  # redaction can cut through the JSON syntax
        return redact(text)


RUN_COLUMNS = (
    TableColumn("RUN", lambda run: str(run.id), is_right_aligned=True, style="bold"),
    TableColumn("WORKFLOW", lambda run: run.workflow, style="cyan"),
    TableColumn("STATUS", lambda run: run.status),
    TableColumn("PANE", lambda run: str(run.pane or "-"), is_right_aligned=True),
    TableColumn("AGE", lambda run: format_age(run.age), is_right_aligned=True),
    TableColumn("WHY", lambda run: sanitize(run.why) or "-", can_shrink=True, min_width=16),
)
STEP_COLUMNS = (
    TableColumn("STEP", lambda step: str(step.number), is_right_aligned=True),
    TableColumn("KIND", lambda step: f"{step.kind} {step.name}".strip(), style="cyan"),
    TableColumn("STATUS", lambda step: step.status + (f" ({step.attempt})" if step.attempt > 1 else "")),
    TableColumn("INPUT", lambda step: format_step_value(step.given), can_shrink=True, min_width=16, worth=3),
    TableColumn(
        "RESULT", lambda step: sanitize(step.why) or format_step_value(step.came), can_shrink=True, min_width=16
    ),
)


def format_step_value(value: Any) -> str:
    """Format the input or output of a step: `text: hello, timeout: 60`."""
    return shorten(sanitize(_format_nested(value)), 200) or "-"


def _format_nested(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            _format_nested(field) if name in _INLINED_FIELDS else f"{name}: {_format_field(name, field)}"
            for name, field in value.items()
            if name not in _HIDDEN_FIELDS and field not in (None, "", [], {})
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(_format_nested, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _format_field(name: str, value: Any) -> str:
    return (
        format_timestamp(value)
        if name in _TIMESTAMP_FIELDS and isinstance(value, int) and value > 0
        else _format_nested(value)
    )


# Bookkeeping of the engine that means nothing to users.
_HIDDEN_FIELDS = frozenset({"type", "correlation", "retry"})
# Wrappers around the fields that matter.
_INLINED_FIELDS = frozenset({"wish", "action"})
# Nanoseconds in the journal; shown as times.
_TIMESTAMP_FIELDS = frozenset({"at", "until", "since", "state_at", "resets_at"})


def format_headline(run: RunItem, options: RenderOptions) -> str:
    """Summarize a run in one line."""
    has_next = run.due_at and run.status not in ENDED_RUN_STATUSES
    next_step = f", continues {format_moment(run.due_at or '', options)}" if has_next else ""
    if run.why.startswith("held"):
        next_step = f"; resume it with `visor workflow resume {run.id}`"
    where = f" in pane {run.pane}" if run.pane is not None else ""
    why = f": {sanitize(run.why)}" if run.why else ""
    return f"run {run.id} ({run.workflow}{where}) is {run.status}{why}{next_step}"


class RunWithReasonArgs(Struct, frozen=True, kw_only=True):
    """The workflow run, and the reason."""

    run: RunNumber
    why: Annotated[str, Meta(description="The reason, shown in the run's history.", max_length=500)] = ""


class RunChangeResult(Struct, frozen=True, kw_only=True):
    """The run right after the request; the effect may take a moment."""

    run: RunItem


def render_run_change(result: RunChangeResult, options: RenderOptions) -> str:
    return str(result.run.id) if options.is_quiet else format_headline(result.run, options)


def declare_run_change(
    *,
    build_change: Callable[[Any], RunChangeRequest],
    render_text: Callable[[RunChangeResult, RenderOptions], str] = render_run_change,
    **declaration: Any,
) -> Operation:
    """Declare an operation that changes a run; ``declaration`` are the other fields of `Operation`."""

    async def run(services: Services, args: Any) -> RunChangeResult:
        changed = await services.workflows.change_run(RunId(args.run), build_change(args), services.gate.actor)
        return RunChangeResult(run=build_run_item(changed, services.clock.now()))

    def list_changes(_services: Services, args: Any) -> tuple[UpdateRecords, ...]:
        change = build_change(args)
        return (UpdateRecords(change=change.kind, name=str(args.run), value=change.word),)

    return Operation(
        result_type=RunChangeResult,
        run=run,
        render_text=render_text,
        effect="change",
        list_changes=list_changes,
        exit_statuses=((4, "Workflow run not found."), (75, "The run has already ended.")),
        **declaration,
    )
