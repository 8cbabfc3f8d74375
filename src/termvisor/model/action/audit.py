"""Entries of the audit log: who requested an action, what was decided, what the outcome was."""

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
"""Outcome of an action, or the answer to an approval request."""


class AuditEntry(Struct, frozen=True, kw_only=True):
    """``action`` is redacted, ``action_hash`` is of the original. ``hash`` covers this entry and all before it."""

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
    """The correlation of the action that this one undoes."""
    previous: str = ""
    hash: str = ""


class AuditFilter(Struct, frozen=True, kw_only=True):
    """Filter of entries; ``actor`` is the kind or name of a caller, ``undoes`` the correlation of an undone action."""

    pane: PaneId | None = None
    kind: str | None = None
    actor: str | None = None
    outcome: str | None = None
    correlation: str | None = None
    undoes: str | None = None
    since: int | None = None
    until: int | None = None
