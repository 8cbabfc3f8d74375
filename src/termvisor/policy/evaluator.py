"""The judge: a request becomes a verdict, with every reason that was heard. The strictest answer wins.

Voices speak in a fixed order: deny list, hooks, rules, command classes, capabilities, protected panes, quiet hours,
rates. The default speaks last, and only where no rule and no capability allows. Nothing else is ever lifted, except
the ask of a command class by a rule that allows this class by name.
"""

from collections.abc import Callable, Iterator

import msgspec

from termvisor.model.action.action import Notify, Spawn, assess_risk
from termvisor.model.action.policy import DEFAULT_ALLOWED_RISKS, Policy
from termvisor.model.action.verdict import PolicyAnswer, Verdict, VerdictReason, combine_reasons
from termvisor.policy import checks, token_bucket
from termvisor.policy.checks import PolicyCase
from termvisor.policy.request import (
    PolicyRequest,
    get_argv,
    get_command_text,
    get_shell_name,
    has_blind_enter,
    resolve_scope,
)
from termvisor.policy.shell import CommandAnalysis, CommandFinding, analyze_argv, analyze_command
from termvisor.policy.token_bucket import FULL_BUCKET, TokenBucket

PolicyCheck = Callable[[PolicyCase], Iterator[VerdictReason]]
POLICY_CHECKS: dict[str, PolicyCheck] = {
    "deny list": checks.check_deny_list,
    "hooks": checks.check_hooks,
    "rules": checks.check_rules,
    "commands": checks.check_command_classes,
    "capabilities": checks.check_capabilities,
    "protected panes": checks.check_protected_panes,
    "quiet hours": checks.check_quiet_hours,
}


def evaluate_request(policy: Policy, request: PolicyRequest) -> Verdict:
    """What the policy says of it. Never raises for what a request holds."""
    heard, retry_at = collect_reasons(policy, request)
    return combine_reasons(tuple(reason for reasons in heard.values() for reason in reasons), retry_at)


def collect_reasons(policy: Policy, request: PolicyRequest) -> tuple[dict[str, tuple[VerdictReason, ...]], int | None]:
    """What each voice said, in order; and when a refusal for haste ends."""
    case = PolicyCase(policy, request, _analyze_request(request))
    heard = {name: tuple(speak(case)) for name, speak in POLICY_CHECKS.items()}
    heard["rates"], retry_at = _check_rates(case)
    heard["default"] = _build_default_reason(case, heard)
    return heard, retry_at


def take_tokens(policy: Policy, request: PolicyRequest) -> dict[str, TokenBucket]:
    """The buckets after this action, for the caller to keep once it was let through."""
    return {name: taken.bucket for name, taken in _take_tokens(PolicyCase(policy, request)).items()}


def _check_rates(case: PolicyCase) -> tuple[tuple[VerdictReason, ...], int | None]:
    late = {name: taken.retry_at for name, taken in _take_tokens(case).items() if taken.retry_at is not None}
    reasons = tuple(
        VerdictReason(source="rate", id=name, answer="deny", text="too many in a minute; the next is possible later")
        for name in late
    )
    return reasons, max(late.values(), default=None)


def _take_tokens(case: PolicyCase) -> dict[str, token_bucket.TakeResult]:
    if case.is_read_only:
        return {}
    request, actor = case.request, case.request.actor
    limits = token_bucket.find_limits(case.policy.rates, request.pane, request.kind, (actor.kind, actor.name))
    return {
        name: token_bucket.take_token(request.spent.get(name, FULL_BUCKET), limit, request.at)
        for name, limit in limits.items()
    }


def _build_default_reason(
    case: PolicyCase, reasons_by_check: dict[str, tuple[VerdictReason, ...]]
) -> tuple[VerdictReason, ...]:
    spoken = (*reasons_by_check["rules"], *reasons_by_check["capabilities"])
    if any(reason.answer == "allow" for reason in spoken):
        return ()
    who, risk = "human" if case.is_human else "others", assess_risk(case.request.action)
    # A way to notify works only where the user's own settings set it up: that is their consent.
    is_free = risk in DEFAULT_ALLOWED_RISKS["human" if case.is_human else "others"] or isinstance(
        case.request.action, Notify
    )
    answer: PolicyAnswer = "allow" if is_free else case.policy.approval.default
    return (VerdictReason(source="default", id=f"{who}.{risk}", answer=answer, text=_format_default_text(case, risk)),)


def _format_default_text(case: PolicyCase, risk: str) -> str:
    who = "a person" if case.is_human else f"a caller of the kind {case.request.actor.kind}"
    return f"{who}, an action of the kind {case.request.kind} (risk: {risk})"


def _analyze_request(request: PolicyRequest) -> CommandAnalysis | None:
    """What the command line would do that the action runs; None when it runs none."""
    text = get_command_text(request)
    if text is not None:
        found = analyze_command(text, request.scope, get_shell_name(request))
        return _add_blind_finding(found, text) if has_blind_enter(request) else found
    words, action, scope = get_argv(request), request.action, resolve_scope(request)
    sets = tuple(action.env) if isinstance(action, Spawn) else ()
    if not words and not sets:
        return None
    found = analyze_argv(words, scope, sets)
    return (
        _merge_analyses(found, analyze_command(words[0], scope))
        if isinstance(action, Spawn) and len(words) == 1
        else found
    )


def _add_blind_finding(analysis: CommandAnalysis, text: str) -> CommandAnalysis:
    finding = CommandFinding("dynamic", 0, len(text), text or "Enter")
    return msgspec.structs.replace(analysis, findings=(*analysis.findings, finding))


def _merge_analyses(one: CommandAnalysis, other: CommandAnalysis) -> CommandAnalysis:
    """A multiplexer runs a single word by a shell."""
    both = {name: (*getattr(one, name), *getattr(other, name)) for name in CommandAnalysis.__struct_fields__}
    return CommandAnalysis(**both)
