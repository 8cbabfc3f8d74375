"""The way to a verdict, line by line, for a person: every voice, also those that had nothing to say."""

from termvisor.model.action.policy import Policy
from termvisor.model.action.verdict import Reason, strictest
from termvisor.policy.evaluator import hear
from termvisor.policy.request import Request

_TWO = "two people must say yes; the daemon hears one user only, so it will expire"


def explain(policy: Policy, request: Request) -> list[str]:
    heard, retry_at = hear(policy, request)
    verdict = strictest(tuple(reason for reasons in heard.values() for reason in reasons), retry_at)
    lines = [f"{request.kind} by {request.actor.kind}"]
    for name, reasons in heard.items():
        lines += [_line(name, reason) for reason in reasons] or [f"  {name}: nothing to say"]
    lines.append(f"{verdict.answer}: {verdict.why}" if verdict.why else verdict.answer)
    lines += [_TWO] if verdict.answer == "ask" and verdict.needs_two else []
    return lines


def _line(name: str, reason: Reason) -> str:
    text = f" ({reason.text})" if reason.text else ""
    return f"  {name}: {reason.answer} by {reason.id}{text}"
