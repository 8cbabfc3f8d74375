"""The way to a verdict, line by line, for a person: every voice, also those that had nothing to say."""

from termvisor.model.action.policy import Policy
from termvisor.model.action.verdict import VerdictReason, combine_reasons
from termvisor.policy.evaluator import collect_reasons
from termvisor.policy.request import PolicyRequest

_TWO_PERSON_NOTE = "two people must say yes; the daemon hears one user only, so it will expire"


def explain_verdict(policy: Policy, request: PolicyRequest) -> list[str]:
    heard, retry_at = collect_reasons(policy, request)
    verdict = combine_reasons(tuple(reason for reasons in heard.values() for reason in reasons), retry_at)
    lines = [f"{request.kind} by {request.actor.kind}"]
    for name, reasons in heard.items():
        lines += [_format_reason(name, reason) for reason in reasons] or [f"  {name}: nothing to say"]
    lines.append(f"{verdict.answer}: {verdict.why}" if verdict.why else verdict.answer)
    lines += [_TWO_PERSON_NOTE] if verdict.answer == "ask" and verdict.needs_two else []
    return lines


def _format_reason(name: str, reason: VerdictReason) -> str:
    text = f" ({reason.text})" if reason.text else ""
    return f"  {name}: {reason.answer} by {reason.id}{text}"
