"""Explain a verdict as text, one line for each reason of each check."""

from itertools import chain

from termvisor.model.action.policy import Policy
from termvisor.model.action.verdict import VerdictReason, combine_reasons
from termvisor.policy.evaluator import collect_reasons
from termvisor.policy.request import PolicyRequest

_TWO_PERSON_NOTE = "two users must approve; the daemon accepts only its own user, so the request will expire"


def explain_verdict(policy: Policy, request: PolicyRequest) -> list[str]:
    """Return the lines of the explanation; the last ones are the answer and notes."""
    reasons_by_check, retry_at = collect_reasons(policy, request)
    verdict = combine_reasons(tuple(chain.from_iterable(reasons_by_check.values())), retry_at)
    lines = [f"{request.kind} by {request.actor.kind}"]
    for name, reasons in reasons_by_check.items():
        lines += [_format_reason(name, reason) for reason in reasons] or [f"  {name}: no reason"]
    lines.append(f"{verdict.answer}: {verdict.why}" if verdict.why else verdict.answer)
    lines += [_TWO_PERSON_NOTE] if verdict.answer == "ask" and verdict.needs_two else []
    return lines


def _format_reason(name: str, reason: VerdictReason) -> str:
    text = f" ({reason.text})" if reason.text else ""
    return f"  {name}: {reason.answer} by {reason.id}{text}"
