"""Evaluate a request: collect the reasons from all checks, pick the strictest answer, and explain it as text.

The checks run in a fixed order: deny list, hooks, rules, command classes, capabilities, protected panes, quiet hours,
rates. The default applies last, and only if no rule or capability allows the action. An allow never overrides a
stricter reason, except that a rule which allows a command class by name overrides that class's ask.

Rates are limited with sliding windows: at most ``per_minute`` actions in any 60 seconds. A token bucket would allow
almost twice as many in the minute after a pause: a full bucket and what it refills.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Literal

import msgspec
from msgspec import Struct

from termvisor.model.action.action import Notify, RunJob, Spawn, assess_risk
from termvisor.model.action.approval import PolicyAnswer, Verdict, VerdictReason, combine_reasons
from termvisor.model.action.policy import DEFAULT_ALLOWED_RISKS, Policy, RateLimits
from termvisor.policy import checks
from termvisor.policy.checks import PolicyCase
from termvisor.policy.request import (
    EMPTY_WINDOW,
    PolicyRequest,
    RateWindow,
    get_argv,
    get_command_text,
    get_shell_name,
    has_blind_enter,
    resolve_scope,
)
from termvisor.policy.shell import CommandAnalysis, CommandFinding, analyze_argv, analyze_command

_MINUTE_NS = 60 * 10**9
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


class CountResult(Struct, frozen=True):
    """``retry_at`` is the time when an action will be allowed; None if this one was counted."""

    window: RateWindow
    retry_at: int | None = None


def evaluate_request(policy: Policy, request: PolicyRequest) -> Verdict:
    """Return the policy's verdict. Never raises because of the contents of a request."""
    reasons_by_check, retry_at = collect_reasons(policy, request)
    return combine_reasons(tuple(chain.from_iterable(reasons_by_check.values())), retry_at)


def collect_reasons(policy: Policy, request: PolicyRequest) -> tuple[dict[str, tuple[VerdictReason, ...]], int | None]:
    """Return each check's reasons in order, and the time at which an exhausted rate limit allows a retry."""
    case = PolicyCase(policy, request, analyze_request(request))
    reasons_by_check = {name: tuple(check(case)) for name, check in POLICY_CHECKS.items()}
    reasons_by_check["rates"], retry_at = _check_rates(case)
    reasons_by_check["default"] = _build_default_reason(case, reasons_by_check)
    return reasons_by_check, retry_at


def count_in_windows(policy: Policy, request: PolicyRequest) -> dict[str, RateWindow]:
    """Return the rate windows after this action, for the caller to store once the action is allowed."""
    return {name: counted.window for name, counted in _count_in_windows(PolicyCase(policy, request)).items()}


def _check_rates(case: PolicyCase) -> tuple[tuple[VerdictReason, ...], int | None]:
    late = {name: one.retry_at for name, one in _count_in_windows(case).items() if one.retry_at is not None}
    reasons = tuple(VerdictReason("rate", name, "deny", "rate limit reached; retry later") for name in late)
    return reasons, max(late.values(), default=None)


def _count_in_windows(case: PolicyCase) -> dict[str, CountResult]:
    if case.is_read_only:
        return {}
    request, actor = case.request, case.request.actor
    limits = find_limits(case.policy.rates, request.pane, request.kind, (actor.kind, actor.name))
    windows = {name: request.spent.get(name, EMPTY_WINDOW) for name in limits}
    return {name: count_action(windows[name], limit, request.at) for name, limit in limits.items()}


def count_action(window: RateWindow, per_minute: int, at: int) -> CountResult:
    """Count one action if the limit allows it. A refused action is not counted."""
    # Later times mean that the clock was set back; as of now, they cannot block for more than a minute.
    recent = tuple(min(one, at) for one in window.counted_at if one > at - _MINUTE_NS)
    if len(recent) >= per_minute:
        return CountResult(RateWindow(recent), recent[-per_minute] + _MINUTE_NS)
    return CountResult(RateWindow((*recent, at)))


def find_limits(rates: RateLimits, pane: int | None, kind: str, actor: tuple[str, str]) -> dict[str, int]:
    """Return the windows in which an action counts, as a dict from name to limit per minute."""
    limits = {f"pane:{pane if pane is not None else '-'}:{kind}": rates.per_minute}
    actor_limit = next((limit for name, limit in rates.actors.items() if name == actor[0]), None)
    return limits | ({f"actor:{actor[0]}:{actor[1]}": actor_limit} if actor_limit else {})


def _build_default_reason(
    case: PolicyCase, reasons_by_check: dict[str, tuple[VerdictReason, ...]]
) -> tuple[VerdictReason, ...]:
    reasons = (*reasons_by_check["rules"], *reasons_by_check["capabilities"])
    if any(reason.answer == "allow" for reason in reasons):
        return ()
    request, risk = case.request, assess_risk(case.request.action)
    group: Literal["human", "others"] = "human" if case.is_human else "others"
    # A notification channel works only if the user configured it, which counts as consent.
    is_allowed = risk in DEFAULT_ALLOWED_RISKS[group] or isinstance(request.action, Notify)
    answer: PolicyAnswer = "allow" if is_allowed else case.policy.approval.default
    outcomes = {"allow": "it is allowed", "ask": "a person decides", "deny": "it is denied"}
    text = f"no rule decides, so {outcomes[answer]}: {request.kind} by {request.actor.kind}, risk {risk}"
    return (VerdictReason("default", f"{group}.{risk}", answer, text),)


def analyze_request(request: PolicyRequest) -> CommandAnalysis | None:
    """Return the analysis of the action's command line; None if it runs none."""
    text = get_command_text(request)
    if text is not None:
        analysis = analyze_command(text, request.scope, get_shell_name(request))
        return _add_blind_finding(analysis, text) if has_blind_enter(request) else analysis
    argv, action, scope = get_argv(request), request.action, resolve_scope(request)
    variables = tuple(action.env) if isinstance(action, Spawn | RunJob) else ()
    if not argv and not variables:
        return None
    analysis = analyze_argv(argv, scope, variables)
    if isinstance(action, Spawn) and len(argv) == 1:  # tmux runs a single argument with a shell
        return _merge_analyses(analysis, analyze_command(argv[0], scope))
    return analysis


def _add_blind_finding(analysis: CommandAnalysis, text: str) -> CommandAnalysis:
    finding = CommandFinding("dynamic", 0, len(text), text or "Enter")
    return msgspec.structs.replace(analysis, findings=(*analysis.findings, finding))


def _merge_analyses(first: CommandAnalysis, second: CommandAnalysis) -> CommandAnalysis:
    fields = {name: (*getattr(first, name), *getattr(second, name)) for name in CommandAnalysis.__struct_fields__}
    return CommandAnalysis(**fields)


def explain_verdict(policy: Policy, request: PolicyRequest) -> list[str]:
    """Return the explanation as lines, ending with the answer and notes."""
    reasons_by_check, retry_at = collect_reasons(policy, request)
    verdict = combine_reasons(tuple(chain.from_iterable(reasons_by_check.values())), retry_at)
    lines = [f"{request.kind} by {request.actor.kind}"]
    for name, reasons in reasons_by_check.items():
        lines += [_format_reason(name, reason) for reason in reasons] or [f"  {name}: no reason"]
    lines.append(f"{verdict.answer}: {verdict.why}" if verdict.why else verdict.answer)
    return lines


def _format_reason(name: str, reason: VerdictReason) -> str:
    text = f" ({reason.text})" if reason.text else ""
    return f"  {name}: {reason.answer} by {reason.id}{text}"
