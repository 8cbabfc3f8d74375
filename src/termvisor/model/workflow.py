"""Workflows as operations show them, and their runs. A step is stored in the journal before it is executed.

A run survives a daemon restart: it is replayed with the results of its stored steps and continues after them.
"""

from typing import Literal, NewType

from msgspec import Struct

from termvisor.model.action.approval import Verdict
from termvisor.model.detection.rule import Severity
from termvisor.model.event import Scalar
from termvisor.model.ids import EventId, PaneId, RuntimeId

RunId = NewType("RunId", int)
RunStatus = Literal["running", "waiting", "paused", "completed", "failed", "cancelled"]
ENDED_RUN_STATUSES: tuple[RunStatus, ...] = ("completed", "failed", "cancelled")
StepStatus = Literal["running", "completed", "retry", "failed", "skipped"]
WorkflowMode = Literal["off", "ask", "on"]
"""``off``: never started. ``ask``: every action requires approval. ``on``: the policy alone decides."""


class RunStep(Struct, frozen=True, kw_only=True):
    """``given`` and ``came`` are redacted JSON: the arguments and the result of the step."""

    number: int
    """The step number in execution order, starting at 0."""
    kind: str
    """`observe`, `wait_for`, `act`, `ask_person`, `sleep_until`, `note`, `now`, …"""
    name: str = ""
    given: str = ""
    came: str = ""
    status: StepStatus = "running"
    attempt: int = 1
    at: int
    ended_at: int | None = None
    why: str = ""


class Run(Struct, frozen=True, kw_only=True):
    id: RunId = RunId(0)
    workflow: str
    version: int = 1
    """Version of the workflow's code or file. A run continues only with the version it started with."""
    origin: Literal["event", "person", "robot"] = "event"
    event: EventId | None = None
    """The event that started the run. An event starts a workflow only once."""
    pane: PaneId | None = None
    runtime: RuntimeId | None = None
    agent: str = ""
    status: RunStatus = "running"
    why: str = ""
    """How the run ended or what it is waiting for, shown to the user."""
    plan: str = ""
    """What a paused run will do and when, and what the user can do instead."""
    due_at: int | None = None
    """When the run continues by itself."""
    at: int
    ended_at: int | None = None
    correlation: str = ""
    mode: WorkflowMode = "ask"
    facts: dict[str, Scalar] = {}
    """The captures of the event and the arguments of the run."""


class RunSignal(Struct, frozen=True, kw_only=True):
    """A signal sent to a run."""

    id: int = 0
    run: RunId
    at: int
    word: str
    value: str = ""
    by: str = ""


class RunFilter(Struct, frozen=True, kw_only=True):
    """Filter for runs by workflow, pane, status and start time."""

    workflow: str | None = None
    pane: PaneId | None = None
    statuses: tuple[RunStatus, ...] = ()
    since: int | None = None


class WorkflowReference(Struct, frozen=True, kw_only=True):
    """An event, agent or rule named in a workflow file, and where. Whether it exists is checked later."""

    kind: Literal["event", "agent", "rule"]
    word: str
    place: str


class WorkflowInfo(Struct, frozen=True, kw_only=True):
    """``mode`` is the effective mode; ``origin`` is `built-in`, a package or a file; ``doubts`` are names in the file
    that do not exist."""

    name: str
    version: int
    summary: str
    origin: str
    mode: WorkflowMode
    events: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    severity: Severity = "info"
    fresh_for: float = 0.0
    priority: int = 100
    timeout: float = 0.0
    takes_pane: bool = True
    steps: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class WorkflowFileProblem(Struct, frozen=True, kw_only=True):
    """A workflow file or entry point that was not loaded, and why. ``name`` is its last known name or its file name."""

    file: str
    why: str
    name: str = ""


class DryRunStep(Struct, frozen=True, kw_only=True):
    """A step of a dry run; for an action, also the current policy verdict."""

    number: int
    kind: str
    name: str = ""
    given: str = ""
    assumed: str = ""
    """The result assumed by the dry run: an answer, a text that appears, a time that passes."""
    verdict: Verdict | None = None
    refused: str = ""
    """The pane precondition that currently fails."""
    ends_run: bool = False
    """The precondition fails because of the text that is sent, so that the run would end with this step."""


class RunChangeRequest(Struct, frozen=True, kw_only=True):
    """A request to change a run."""

    kind: Literal["cancel", "pause", "resume", "signal"]
    word: str = ""
    """The name of the signal to send, or else the reason for the change."""
    value: str = ""
