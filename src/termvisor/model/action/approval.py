"""An Approval is a question to a person about one exact action, and what became of it."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Actor, Risk
from termvisor.model.action.verdict import VerdictReason
from termvisor.model.ids import PaneId

ApprovalState = Literal["open", "allowed", "denied", "edited", "expired", "withdrawn", "used"]
"""``allowed`` is good for doing it once; then it is ``used``. ``edited`` is a no: a person does it in other words. An
agent that got its answer elsewhere, or left, has ``withdrawn`` its question."""

ApprovalAnswer = Literal["allow", "deny", "edit"]

MAX_SHOWN_CHARS = 4096
"""Characters of one text that a question keeps; its hash covers all of them."""


class ApprovalVote(Struct, frozen=True):
    """What one person said. Saying yes twice is one yes; a no stands, whatever was said before."""

    who: str
    answer: ApprovalAnswer
    at: int


class Approval(Struct, frozen=True, kw_only=True):
    """``shown`` is the redacted action, ``action_hash`` binds the answer to the true one."""

    id: int = 0
    at: int
    expires_at: int
    correlation: str
    action_hash: str
    kind: str
    actor: Actor
    risk: Risk
    pane: PaneId | None = None
    place: str = ""
    into: Literal["prompt", "program"] = "prompt"
    """Of a text: whom it is for."""
    owner: str = ""
    """Under whose reservation it would be done."""
    shown: dict[str, object] = {}
    reasons: tuple[VerdictReason, ...] = ()
    needs: int = 1
    """How many different people must allow it."""
    state: ApprovalState = "open"
    voices: tuple[ApprovalVote, ...] = ()


class PermitScope(Struct, frozen=True, kw_only=True):
    """What a permit is good for: one kind of action by one caller, in one pane or in all."""

    kind: str
    actor_kind: str
    actor_name: str = ""
    uid: int
    pane: PaneId | None = None


class Permit(Struct, frozen=True, kw_only=True):
    """A lasting allowance that a person gave; it lifts an ask, never a deny."""

    id: int = 0
    at: int
    expires_at: int
    scope: PermitScope
    who: str
    revoked_at: int | None = None


class Reservation(Struct, frozen=True, kw_only=True):
    """Exclusive use of a pane: nobody but its owner may act on it until it ends."""

    id: int = 0
    pane: PaneId
    owner: str
    at: int
    expires_at: int
    released_at: int | None = None
