"""Outcome of an allowed action: done, or how far it got and why; and the progress of delivering a text."""

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import RunProgram
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId

DeliveryStep = Literal["typing", "typed", "submitting", "submitted"]
"""Each step is stored before it is executed: ``typing`` before the first byte, ``submitting`` before Enter."""
DeliveryStatus = Literal["delivered", "typed_not_submitted", "refused", "unknown"]
"""``unknown``: the outcome cannot be verified, and the delivery is not retried."""


OutcomeStatus = Literal["done", "delivered", "typed_not_submitted", "unknown", "suppressed", "failed"]
"""Only notifications and programs are ``suppressed`` (not executed on purpose) or ``failed`` (the execution failed)."""


AgentChannel = Literal["native", "keys"]
"""How a text reached an agent: by its own server or hook, or typed into its terminal."""


class ProgramOutput(Struct, frozen=True):
    """Output of a program that exited by itself. It is not redacted."""

    exit_status: int
    out: bytes = b""
    errors: bytes = b""


class Outcome(Struct, frozen=True, kw_only=True):
    """``why`` is a stable code, ``text`` is for the user; ``correlation`` finds the entries in the audit log."""

    status: OutcomeStatus
    why: str = ""
    text: str = ""
    correlation: str = ""
    key: str = ""
    pane: PaneId | None = None
    bytes_sent: int = 0
    lines: int | None = None
    """Of a text: the number of lines in its pane before it was typed."""
    mux_pane: str = ""
    """Of a started program: the multiplexer's id of its pane; ``pid`` is its process."""
    pid: int = 0
    former: dict[str, Scalar] = {}
    """The state that it replaced or created, logged so that it can be undone."""
    channel: AgentChannel | None = None
    """None for actions that send nothing to an agent."""
    answered: ProgramOutput | None = None
    """Output of a program; None if it did not exit by itself."""
    is_repeated: bool = False
    """The key was used before: this is the first outcome, and nothing was executed now."""


ProgramRunner = Callable[[RunProgram], Awaitable[Outcome]]
"""Runs a program through the gate on behalf of its caller. Raises as the gate does."""


def explain_missing_output(outcome: Outcome, program: str) -> str:
    """Return why a program has no output, for the user."""
    return f"{program} was not run: {outcome.text}" if outcome.status == "suppressed" else outcome.text


class DeliveryRecord(Struct, frozen=True, kw_only=True):
    """``key`` is the idempotency key: a second call with it returns the first outcome, and nothing is typed twice."""

    key: str
    correlation: str
    pane: PaneId
    action_hash: str
    text_hash: str = ""
    """Keyed hash that recognizes the text on a screen; the text itself is not stored."""
    begun_at: int
    step: DeliveryStep = "typing"
    step_at: int = 0
    status: DeliveryStatus | None = None
    why: str = ""
