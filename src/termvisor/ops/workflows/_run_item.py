"""A run and its steps, as answers tell them."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.workflow.run import ENDED, Mode, Run, RunStatus, Step, StepStatus
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.panes._listing import instant
from termvisor.ops.render.text import Column, age, clean, shorten
from termvisor.redaction import redact

RunNumber = Annotated[int, Meta(description="The run's number.", ge=1, extra={"positional": "one"})]


class RunItem(Struct, frozen=True, kw_only=True):
    """``why`` is how it ended or what it waits for; ``plan`` is what a paused run will do, at ``due_at``."""

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
    mode: Mode
    began_at: str
    ended_at: str | None
    due_at: str | None
    age: float
    """Seconds since it began; of one that ended, how long it took."""
    facts: dict[str, Any]
    correlation: str


class StepItem(Struct, frozen=True, kw_only=True):
    """``given`` is what it was asked for, ``came`` what came of it; both redacted."""

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


def run_item(run: Run, now: int) -> RunItem:
    return RunItem(
        id=run.id,
        workflow=run.workflow,
        version=run.version,
        status=run.status,
        why=clean(redact(run.why)),
        plan=redact(run.plan),
        origin=run.origin,
        event=run.event,
        pane=run.pane,
        agent=run.agent,
        mode=run.mode,
        began_at=iso(run.at),
        ended_at=instant(run.ended_at),
        due_at=instant(run.due_at),
        age=max(0.0, seconds_between(run.at, now if run.ended_at is None else run.ended_at)),
        facts={name: redact(value) if isinstance(value, str) else value for name, value in run.facts.items()},
        correlation=run.correlation,
    )


def step_item(step: Step) -> StepItem:
    return StepItem(
        number=step.number,
        kind=step.kind,
        name=step.name,
        status=step.status,
        attempt=step.attempt,
        began_at=iso(step.at),
        ended_at=instant(step.ended_at),
        why=clean(redact(step.why)),
        given=_read(step.given),
        came=_read(step.came),
    )


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(redact(text)) if text else None
    except msgspec.DecodeError:
        return redact(text)


RUN_COLUMNS = (
    Column("RUN", lambda run: str(run.id), is_right=True, style="bold"),
    Column("WORKFLOW", lambda run: run.workflow, style="cyan"),
    Column("STATUS", lambda run: run.status),
    Column("PANE", lambda run: str(run.pane or "-"), is_right=True),
    Column("AGE", lambda run: age(run.age), is_right=True),
    Column("WHY", lambda run: clean(run.why) or "-", may_shrink=True),
)
STEP_COLUMNS = (
    Column("STEP", lambda step: str(step.number), is_right=True),
    Column("KIND", lambda step: f"{step.kind} {step.name}".strip(), style="cyan"),
    Column("STATUS", lambda step: step.status + (f" ({step.attempt})" if step.attempt > 1 else "")),
    Column("GIVEN", lambda step: in_words(step.given), may_shrink=True),
    Column("CAME", lambda step: clean(step.why) or in_words(step.came), may_shrink=True),
)


def in_words(value: Any) -> str:
    """What a step was given or what came of it, for a person: `text: hello, timeout: 60`."""
    return shorten(clean(_said(value)), 200) or "-"


def _said(value: Any) -> str:
    if isinstance(value, dict):
        told = {name: one for name, one in value.items() if name not in _UNTOLD and one not in (None, "", [], {})}
        return ", ".join(_said(one) if name in _WITHIN else f"{name}: {_at(name, one)}" for name, one in told.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(_said(one) for one in value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _at(name: str, value: Any) -> str:
    return iso(value) if name in _INSTANTS and isinstance(value, int) and value > 0 else _said(value)


_UNTOLD = frozenset({"type", "correlation", "retry"})
_WITHIN = frozenset({"wish", "action"})
_INSTANTS = frozenset({"at", "until", "since", "state_at", "resets_at"})


def headline(run: RunItem) -> str:
    """One line about a run, for a person."""
    ends = "" if run.status in ENDED or not run.due_at else f", goes on at {run.due_at}"
    if run.why.startswith("held"):
        ends = f"; `visor workflow resume {run.id}` lets it go on"
    where = f" in pane {run.pane}" if run.pane is not None else ""
    why = f": {clean(run.why)}" if run.why else ""
    return f"run {run.id} ({run.workflow}{where}) is {run.status}{why}{ends}"
