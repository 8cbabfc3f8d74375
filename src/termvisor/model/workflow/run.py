"""A Run is a workflow in progress. Whatever it does is a Step, on record before it is done.

A run survives the end of its daemon: it is begun anew with its recorded steps as answers, and goes on where they end.
"""

from typing import Literal, NewType

from msgspec import Struct

from termvisor.model.event import Scalar
from termvisor.model.ids import EventId, PaneId, RuntimeId

RunId = NewType("RunId", int)
RunStatus = Literal["running", "waiting", "paused", "completed", "failed", "cancelled"]
ENDED_RUN_STATUSES: tuple[RunStatus, ...] = ("completed", "failed", "cancelled")
StepStatus = Literal["running", "completed", "retry", "failed", "skipped"]
WorkflowMode = Literal["off", "ask", "on"]
"""Of a workflow: never started; started, and every action is asked about; started, and the policy alone decides."""


class RunStep(Struct, frozen=True, kw_only=True):
    """``given`` and ``came`` are redacted JSON: what the step was asked for, and what came of it."""

    number: int
    """From 0, in the order in which the run came to them."""
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
    """Of the workflow's code or file; a run goes on only with the version that it began with."""
    origin: Literal["event", "person", "robot"] = "event"
    event: EventId | None = None
    """What started it; one event starts a workflow once."""
    pane: PaneId | None = None
    runtime: RuntimeId | None = None
    agent: str = ""
    status: RunStatus = "running"
    why: str = ""
    """How it ended or what it waits for, for a person."""
    plan: str = ""
    """What a paused run will do, when, and what a person can do instead."""
    due_at: int | None = None
    """When it goes on by itself."""
    at: int
    ended_at: int | None = None
    correlation: str = ""
    mode: WorkflowMode = "ask"
    facts: dict[str, Scalar] = {}
    """The captures of its event, and what it was started with."""


class RunSignal(Struct, frozen=True, kw_only=True):
    """A word that a person or program said to a run."""

    id: int = 0
    run: RunId
    at: int
    word: str
    value: str = ""
    by: str = ""


class RunFilter(Struct, frozen=True, kw_only=True):
    """Which runs: of a workflow, a pane, in these states, from a time on."""

    workflow: str | None = None
    pane: PaneId | None = None
    statuses: tuple[RunStatus, ...] = ()
    since: int | None = None
