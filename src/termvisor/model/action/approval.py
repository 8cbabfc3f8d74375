"""What decides whether an action may be executed: policy verdicts, user approvals, permits and pane reservations."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.action import Actor, Risk
from termvisor.model.ids import PaneId

PolicyAnswer = Literal["allow", "ask", "deny"]
ANSWER_STRICTNESS: dict[PolicyAnswer, int] = {"allow": 0, "ask": 1, "deny": 2}
ReasonSource = Literal["deny_list", "hook", "rule", "command", "capability", "rate", "hours", "protected", "default"]


class VerdictReason(Struct, frozen=True):
    """One reason for a verdict. ``id`` names the rule, hook or class; ``text`` is shown to the user."""

    source: ReasonSource
    id: str
    answer: PolicyAnswer
    text: str = ""
    two_person: bool = False
    """For ``ask``: two users must approve."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The strictest reason wins. All reasons are kept."""

    answer: PolicyAnswer
    reasons: tuple[VerdictReason, ...]
    retry_at: int | None = None
    """The time when a rate limit allows a retry."""

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
    """Build the verdict from the strictest reason. Without any reason the answer is ask, never allow."""
    answers: list[PolicyAnswer] = [reason.answer for reason in reasons] or ["ask"]
    return Verdict(answer=max(answers, key=ANSWER_STRICTNESS.__getitem__), reasons=reasons, retry_at=retry_at)


ApprovalState = Literal["open", "allowed", "denied", "edited", "expired", "withdrawn", "used"]
"""``allowed`` is valid for one execution, then it is ``used``. ``edited`` is a denial: the user sends another text
instead. ``withdrawn``: the agent got its answer elsewhere, or exited."""

ApprovalAnswer = Literal["allow", "deny", "edit"]

NO_EXPIRY = 2**63 - 1
"""``expires_at`` of a request about an agent's dialog: it stays open as long as the dialog is shown."""

ANSWERED_ELSEWHERE = "answered elsewhere"
"""Message of the cancellation that ends the wait for an approval because the agent got its answer at the pane."""

# Maximum characters of a text stored in a request. The hash covers the whole text.
MAX_SHOWN_CHARS = 4096


class ApprovalVote(Struct, frozen=True):
    """One user's answer. Two approvals by the same user count once; a denial replaces an earlier approval."""

    who: str
    answer: ApprovalAnswer
    at: int
    after: int | None = None
    """The request that must be executed before this one may be."""
    reason: str = ""
    """Why it was denied; the caller gets it with the denial."""


class ApprovalOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of an answered request, or how it was settled without an answer. ``why`` is a stable code."""

    status: str
    """The status of the executed action, or `elsewhere` if the agent got its answer without this request."""
    why: str = ""
    text: str = ""


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
    """For a text: whether a shell prompt or a program receives it."""
    owner: str = ""
    """The owner of the reservation under which the action would run."""
    shown: dict[str, object] = {}
    reasons: tuple[VerdictReason, ...] = ()
    needs: int = 1
    """How many different users must approve."""
    capabilities: tuple[str, ...] = ()
    """What an approval for the session grants; empty if the action can be approved once only."""
    after: int | None = None
    """The request of the same plan that must be executed before this one."""
    permit: "Permit | None" = None
    """The permit that the answer gave; known only to the caller that answered."""
    count: int = 1
    """How often the same caller has asked for the same action while the request was open."""
    reason: str = ""
    """Why it was denied, in the person's words."""
    outcome: ApprovalOutcome | None = None
    """Set once the answer was delivered or the agent was answered elsewhere."""
    state: ApprovalState = "open"
    voices: tuple[ApprovalVote, ...] = ()


class PermitScope(Struct, frozen=True, kw_only=True):
    """What a permit allows: these capabilities, for one kind of action by one caller, in one pane or in all.

    Permits of earlier versions have no capabilities and allow nothing.
    """

    kind: str
    actor_kind: str
    actor_name: str = ""
    uid: int
    pane: PaneId | None = None
    capabilities: tuple[str, ...] = ()


class PermitGrant(Struct, frozen=True):
    """What a person grants with an approval: what the request shows, or its whole categories, for some time."""

    seconds: float = 8 * 3600.0
    is_category: bool = False


class Permit(Struct, frozen=True, kw_only=True):
    """An advance approval for a limited time. It overrides ask, but never deny."""

    id: int = 0
    at: int
    expires_at: int
    scope: PermitScope
    who: str
    revoked_at: int | None = None


class Reservation(Struct, frozen=True, kw_only=True):
    """Exclusive use of a pane. Only the owner may act on it until the reservation ends."""

    id: int = 0
    pane: PaneId
    owner: str
    at: int
    expires_at: int
    released_at: int | None = None
