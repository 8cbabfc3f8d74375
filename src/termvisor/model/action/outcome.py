"""An Outcome is what came of an action that was allowed: done, or how far it came and why that is known."""

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import RunProgram
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId

OutcomeStatus = Literal["done", "delivered", "typed_not_submitted", "unknown", "suppressed", "failed"]
"""``suppressed`` and ``failed`` come of notifications and programs only: nobody was told and nothing was asked, on
purpose or because it did not work."""


AgentChannel = Literal["native", "keys"]
"""How an agent was spoken to: by a channel of its own, or typed into its terminal."""


class ProgramOutput(Struct, frozen=True):
    """What a program said until it ended by itself. It is the program's own word: nothing in it is redacted."""

    exit_status: int
    out: bytes = b""
    errors: bytes = b""


class Outcome(Struct, frozen=True, kw_only=True):
    """``why`` is a stable code, ``text`` is for a person. ``correlation`` finds the whole story in the audit."""

    status: OutcomeStatus
    why: str = ""
    text: str = ""
    correlation: str = ""
    key: str = ""
    pane: PaneId | None = None
    bytes_sent: int = 0
    lines: int | None = None
    """Of a text: how many lines its pane had printed before it was typed."""
    mux_pane: str = ""
    """Of something that was started: what the multiplexer calls its pane, and its process."""
    pid: int = 0
    former: dict[str, Scalar] = {}
    """What it took the place of, or made: on record, so that it can be taken back."""
    channel: AgentChannel | None = None
    """None for what is no word to an agent."""
    answered: ProgramOutput | None = None
    """Of a program that was run; None where it did not come to its own end."""
    is_repeated: bool = False
    """The same key was used before: this is what came of it then, and nothing was done now."""


ProgramRunner = Callable[[RunProgram], Awaitable[Outcome]]
"""How a program is run by who needs its answer: through the gate, which knows for whom. Raises as the gate does."""


def explain_missing_output(outcome: Outcome, program: str) -> str:
    """Why a program told nothing, for a person."""
    return f"{program} was not asked: {outcome.text}" if outcome.status == "suppressed" else outcome.text
