"""A Verdict is what the policy says of an action: allow, ask or deny, with every reason that led to it."""

from typing import Literal

from msgspec import Struct

Answer = Literal["allow", "ask", "deny"]
STRICTNESS: dict[Answer, int] = {"allow": 0, "ask": 1, "deny": 2}

ReasonSource = Literal["deny_list", "hook", "rule", "command", "capability", "rate", "hours", "protected", "default"]


class Reason(Struct, frozen=True, kw_only=True):
    """One voice in a verdict. ``id`` names the rule, hook or class; ``text`` is for a person."""

    source: ReasonSource
    id: str
    answer: Answer
    text: str = ""
    two_person: bool = False
    """For an ``ask``: two people must say yes."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The strictest of its reasons wins; all of them are kept."""

    answer: Answer
    reasons: tuple[Reason, ...]
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


def strictest(reasons: tuple[Reason, ...], retry_at: int | None = None) -> Verdict:
    """Without any reason nothing is allowed by accident: it is asked."""
    answers: list[Answer] = [reason.answer for reason in reasons] or ["ask"]
    return Verdict(answer=max(answers, key=STRICTNESS.__getitem__), reasons=reasons, retry_at=retry_at)
