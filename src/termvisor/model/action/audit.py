"""An AuditEntry is one thing that is on record about an action: who wanted what, what was decided, what came of it."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Actor
from termvisor.model.action.approval import ApprovalAnswer
from termvisor.model.action.outcome import OutcomeStatus
from termvisor.model.action.verdict import Verdict
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId

AuditStage = Literal["judged", "asked", "answered", "intent", "outcome"]

AuditOutcome = Literal[OutcomeStatus, "denied", "refused", ApprovalAnswer]
"""What an entry may say came of it, or what a person answered."""


class AuditEntry(Struct, frozen=True, kw_only=True):
    """``action`` is redacted, ``action_hash`` is of the true one. ``hash`` covers this entry and all before it."""

    id: int = 0
    at: int
    correlation: str
    stage: AuditStage
    kind: str
    actor: Actor
    pane: PaneId | None = None
    place: str = ""
    action: dict[str, object] = {}
    action_hash: str = ""
    verdict: Verdict | None = None
    observed: dict[str, Scalar] = {}
    outcome: str = ""
    why: str = ""
    undoes: str = ""
    """The correlation of the action that this one takes back."""
    previous: str = ""
    hash: str = ""


class AuditFilter(Struct, frozen=True, kw_only=True):
    """Which entries: of a pane, a kind of action, a caller (by kind or name), an outcome, one action's whole story,
    what takes an action back, or from a time on and up to one.
    """

    pane: PaneId | None = None
    kind: str | None = None
    actor: str | None = None
    outcome: str | None = None
    correlation: str | None = None
    undoes: str | None = None
    since: int | None = None
    until: int | None = None


class ChainBreak(Struct, frozen=True):
    """The first entry that does not fit the ones before it, and how."""

    id: int
    what: str
