"""Whether an action may be executed: the policy's verdict, a user's approval, permits and reservations of panes."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Actor, Risk
from termvisor.model.ids import PaneId

PolicyAnswer = Literal["allow", "ask", "deny"]
ANSWER_STRICTNESS: dict[PolicyAnswer, int] = {"allow": 0, "ask": 1, "deny": 2}
ReasonSource = Literal["deny_list", "hook", "rule", "command", "capability", "rate", "hours", "protected", "default"]


class VerdictReason(Struct, frozen=True):
    """One reason of a verdict. ``id`` names the rule, hook or class; ``text`` is for the user."""

    source: ReasonSource
    id: str
    answer: PolicyAnswer
    text: str = ""
    two_person: bool = False
    """For an ``ask``: two users must approve."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The strictest of its reasons wins; all of them are kept."""

    answer: PolicyAnswer
    reasons: tuple[VerdictReason, ...]
    retry_at: int | None = None
    """When a rate limit ends."""

    @property
    def why(self) -> str:
        """The text of the deciding reason."""
        decisive = next((reason for reason in self.reasons if reason.answer == self.answer), None)
        return decisive.text or decisive.id if decisive else ""

    @property
    def needs_two(self) -> bool:
        """Return True if two users must approve."""
        return any(reason.two_person and reason.answer == "ask" for reason in self.reasons)


def combine_reasons(reasons: tuple[VerdictReason, ...], retry_at: int | None = None) -> Verdict:
    """Build the verdict of the strictest reason; without any reason the answer is ask, never allow."""
    answers: list[PolicyAnswer] = [reason.answer for reason in reasons] or ["ask"]
    return Verdict(answer=max(answers, key=ANSWER_STRICTNESS.__getitem__), reasons=reasons, retry_at=retry_at)


ApprovalState = Literal["open", "allowed", "denied", "edited", "expired", "withdrawn", "used"]
"""``allowed`` is valid for one execution; then it is ``used``. ``edited`` is a denial: the user sends another text
instead. ``withdrawn``: the agent was answered elsewhere, or exited."""

ApprovalAnswer = Literal["allow", "deny", "edit"]

# Characters of a text that a request stores; its hash covers all of them.
MAX_SHOWN_CHARS = 4096


class ApprovalVote(Struct, frozen=True):
    """The answer of one user. Two approvals of one user count once; a denial replaces an earlier approval."""

    who: str
    answer: ApprovalAnswer
    at: int


class Approval(Struct, frozen=True, kw_only=True):
    """``shown`` is the redacted action, ``action_hash`` binds the answer to the original."""

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
    """Of a text: whether a shell's prompt or a program receives it."""
    owner: str = ""
    """The owner of the reservation under which it would run."""
    shown: dict[str, object] = {}
    reasons: tuple[VerdictReason, ...] = ()
    needs: int = 1
    """How many different users must approve."""
    state: ApprovalState = "open"
    voices: tuple[ApprovalVote, ...] = ()


class PermitScope(Struct, frozen=True, kw_only=True):
    """What a permit allows: one kind of action by one caller, in one pane or in all."""

    kind: str
    actor_kind: str
    actor_name: str = ""
    uid: int
    pane: PaneId | None = None


class Permit(Struct, frozen=True, kw_only=True):
    """An approval in advance for a limited time; it overrides an ask, never a deny."""

    id: int = 0
    at: int
    expires_at: int
    scope: PermitScope
    who: str
    revoked_at: int | None = None


class Reservation(Struct, frozen=True, kw_only=True):
    """Exclusive use of a pane: only its owner may act on it until it ends."""

    id: int = 0
    pane: PaneId
    owner: str
    at: int
    expires_at: int
    released_at: int | None = None
