"""The judge: a request becomes a verdict, with every reason that was heard. The strictest answer wins.

Voices speak in a fixed order: deny list, hooks, rules, command classes, capabilities, protected panes, quiet hours,
rates. The default speaks last, and only where no rule and no capability allows. Nothing else is ever lifted, except
the ask of a command class by a rule that allows this class by name.
"""

from collections.abc import Callable, Iterator

import msgspec

from termvisor.model.action.action import Notify, Spawn, risk_of
from termvisor.model.action.policy import UNASKED, Policy
from termvisor.model.action.verdict import Answer, Reason, Verdict, strictest
from termvisor.policy import checks as voice
from termvisor.policy import token_bucket as bucket
from termvisor.policy.checks import Case
from termvisor.policy.request import Request, argv, presses_blindly, scope_of, shell_of, typed
from termvisor.policy.shell import Examined, Finding, examine, examine_argv
from termvisor.policy.token_bucket import FULL, Bucket

Voice = Callable[[Case], Iterator[Reason]]
VOICES: dict[str, Voice] = {
    "deny list": voice.deny_list,
    "hooks": voice.hooks,
    "rules": voice.rules,
    "commands": voice.commands,
    "capabilities": voice.capabilities,
    "protected panes": voice.protected,
    "quiet hours": voice.quiet_hours,
}


def judge(policy: Policy, request: Request) -> Verdict:
    """What the policy says of it. Never raises for what a request holds."""
    heard, retry_at = hear(policy, request)
    return strictest(tuple(reason for reasons in heard.values() for reason in reasons), retry_at)


def hear(policy: Policy, request: Request) -> tuple[dict[str, tuple[Reason, ...]], int | None]:
    """What each voice said, in order; and when a refusal for haste ends."""
    case = Case(policy, request, _examined(request))
    heard = {name: tuple(speak(case)) for name, speak in VOICES.items()}
    heard["rates"], retry_at = _rates(case)
    heard["default"] = _default(case, heard)
    return heard, retry_at


def spend(policy: Policy, request: Request) -> dict[str, Bucket]:
    """The buckets after this action, for the caller to keep once it was let through."""
    return {name: taken.bucket for name, taken in _taken(Case(policy, request)).items()}


def _rates(case: Case) -> tuple[tuple[Reason, ...], int | None]:
    late = {name: taken.retry_at for name, taken in _taken(case).items() if taken.retry_at is not None}
    reasons = tuple(
        Reason(source="rate", id=name, answer="deny", text="too many in a minute; the next is possible later")
        for name in late
    )
    return reasons, max(late.values(), default=None)


def _taken(case: Case) -> dict[str, bucket.Taken]:
    if case.only_looks:
        return {}
    request, actor = case.request, case.request.actor
    limits = bucket.limits(case.policy.rates, request.pane, request.kind, (actor.kind, actor.name))
    return {name: bucket.take(request.spent.get(name, FULL), limit, request.at) for name, limit in limits.items()}


def _default(case: Case, heard: dict[str, tuple[Reason, ...]]) -> tuple[Reason, ...]:
    spoken = (*heard["rules"], *heard["capabilities"])
    if any(reason.answer == "allow" for reason in spoken):
        return ()
    who, risk = "human" if case.is_human else "others", risk_of(case.request.action)
    # A way to notify works only where the user's own settings set it up: that is their consent.
    is_free = risk in UNASKED["human" if case.is_human else "others"] or isinstance(case.request.action, Notify)
    answer: Answer = "allow" if is_free else case.policy.approval.default
    return (Reason(source="default", id=f"{who}.{risk}", answer=answer, text=_default_text(case, risk)),)


def _default_text(case: Case, risk: str) -> str:
    who = "a person" if case.is_human else f"a caller of the kind {case.request.actor.kind}"
    return f"{who}, an action of the kind {case.request.kind} (risk: {risk})"


def _examined(request: Request) -> Examined | None:
    """What the command line would do that the action runs; None when it runs none."""
    text = typed(request)
    if text is not None:
        found = examine(text, request.scope, shell_of(request))
        return _blind(found, text) if presses_blindly(request) else found
    words, action, scope = argv(request), request.action, scope_of(request)
    sets = tuple(action.env) if isinstance(action, Spawn) else ()
    if not words and not sets:
        return None
    found = examine_argv(words, scope, sets)
    return _and(found, examine(words[0], scope)) if isinstance(action, Spawn) and len(words) == 1 else found


def _blind(found: Examined, text: str) -> Examined:
    finding = Finding("dynamic", 0, len(text), text or "Enter")
    return msgspec.structs.replace(found, findings=(*found.findings, finding))


def _and(one: Examined, other: Examined) -> Examined:
    """A multiplexer runs a single word by a shell."""
    both = {name: (*getattr(one, name), *getattr(other, name)) for name in Examined.__struct_fields__}
    return Examined(**both)
