"""Verdict of the policy about an action: allow, ask or deny, with every reason."""

from typing import Literal

from msgspec import Struct

PolicyAnswer = Literal["allow", "ask", "deny"]
ANSWER_STRICTNESS: dict[PolicyAnswer, int] = {"allow": 0, "ask": 1, "deny": 2}

ReasonSource = Literal["deny_list", "hook", "rule", "command", "capability", "rate", "hours", "protected", "default"]


class VerdictReason(Struct, frozen=True, kw_only=True):
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
