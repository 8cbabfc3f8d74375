"""A Verdict is what the policy says of an action: allow, ask or deny, with every reason that led to it."""

from typing import Literal

from msgspec import Struct

PolicyAnswer = Literal["allow", "ask", "deny"]
ANSWER_STRICTNESS: dict[PolicyAnswer, int] = {"allow": 0, "ask": 1, "deny": 2}

ReasonSource = Literal["deny_list", "hook", "rule", "command", "capability", "rate", "hours", "protected", "default"]


class VerdictReason(Struct, frozen=True, kw_only=True):
    """One voice in a verdict. ``id`` names the rule, hook or class; ``text`` is for a person."""

    source: ReasonSource
    id: str
    answer: PolicyAnswer
    text: str = ""
    two_person: bool = False
    """For an ``ask``: two people must say yes."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The strictest of its reasons wins; all of them are kept."""

    answer: PolicyAnswer
    reasons: tuple[VerdictReason, ...]
    retry_at: int | None = None
    """When a refusal for haste would no longer hold."""

    @property
    def why(self) -> str:
        """The deciding reason, for a person."""
        decided = next((reason for reason in self.reasons if reason.answer == self.answer), None)
        return decided.text or decided.id if decided else ""

    @property
    def needs_two(self) -> bool:
        """Whether one person's yes is not enough."""
        return any(reason.two_person and reason.answer == "ask" for reason in self.reasons)


def combine_reasons(reasons: tuple[VerdictReason, ...], retry_at: int | None = None) -> Verdict:
    """Without any reason nothing is allowed by accident: it is asked."""
    answers: list[PolicyAnswer] = [reason.answer for reason in reasons] or ["ask"]
    return Verdict(answer=max(answers, key=ANSWER_STRICTNESS.__getitem__), reasons=reasons, retry_at=retry_at)
