"""The outcome of an allowed action (done, or how far it got and why), and the progress of delivering a text."""

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import RunProgram
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId

DeliveryStep = Literal["typing", "typed", "submitting", "submitted"]
"""Each step is stored before it is executed: ``typing`` before the first byte, ``submitting`` before Enter."""
DeliveryStatus = Literal["delivered", "queued", "typed_not_submitted", "refused", "unknown"]
"""``queued``: a working agent shows the text in its queue. ``unknown``: the outcome cannot be verified, so the delivery
is not retried."""

OutcomeStatus = Literal["done", "delivered", "queued", "typed_not_submitted", "unknown", "suppressed", "failed"]
"""Only notifications and programs can be ``suppressed`` (intentionally not executed) or ``failed``."""

AgentChannel = Literal["native", "keys"]
"""How a text reached an agent: through its own server or hook, or typed into its terminal."""


class ProgramOutput(Struct, frozen=True):
    """Output of a program that exited by itself. It is not redacted."""

    exit_status: int
    out: bytes = b""
    errors: bytes = b""


class Outcome(Struct, frozen=True, kw_only=True):
    """``why`` is a stable code; ``text`` is for the user; ``correlation`` links to the audit log entries."""

    status: OutcomeStatus
    why: str = ""
    text: str = ""
    correlation: str = ""
    key: str = ""
    pane: PaneId | None = None
    bytes_sent: int = 0
    lines: int | None = None
    """For a text: the number of lines in its pane before it was typed."""
    sent_at: int = 0
    """For a text: the time just before Enter was pressed or, without Enter, before it was typed."""
    mux_pane: str = ""
    """For a started program: the multiplexer's id of its pane; ``pid`` is its process."""
    pid: int = 0
    job: int | None = None
    """The id of a started job."""
    former: dict[str, Scalar] = {}
    """The state that the action replaced or created, logged for undo."""
    channel: AgentChannel | None = None
    """None for actions that send nothing to an agent."""
    answered: ProgramOutput | None = None
    """The program's output; None if it did not exit by itself."""
    approval: int | None = None
    """For a denied permission request: the number of the approval request in which a person denied it."""
    is_repeated: bool = False
    """True if the key was used before: this is the first outcome, and nothing was executed now."""


ProgramRunner = Callable[[RunProgram], Awaitable[Outcome]]
"""Runs a program through the gate on behalf of its caller. Raises the gate's errors."""


def explain_missing_output(outcome: Outcome, program: str) -> str:
    """Explain to the user why a program has no output."""
    return f"{program} was not run: {outcome.text}" if outcome.status == "suppressed" else outcome.text


class DeliveryRecord(Struct, frozen=True, kw_only=True):
    """``key`` is the idempotency key. A second call with it returns the first outcome, and nothing is typed twice."""

    key: str
    correlation: str
    pane: PaneId
    action_hash: str
    text_hash: str = ""
    """Keyed hash for recognizing the text on a screen. The text itself is not stored."""
    begun_at: int
    step: DeliveryStep = "typing"
    step_at: int = 0
    status: DeliveryStatus | None = None
    why: str = ""
