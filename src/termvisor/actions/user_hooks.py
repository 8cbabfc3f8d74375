"""Run the user's policy hooks before an action, and report the outcome to them afterwards.

A hook gets one JSON object on stdin and prints one: ``decision`` (allow, deny or modify), ``reason``, and for modify
the ``action`` to run instead. A crash, a timeout or an invalid answer counts as deny.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from termvisor.log import get_logger
from termvisor.model.action.action import Action, Actor, get_action_kind
from termvisor.model.action.policy import PolicyHook
from termvisor.model.action.policy_hook import HookInput, HookReply, PaneContext
from termvisor.policy.request import HookAnswer
from termvisor.redaction import redact
from termvisor.system.subprocesses import run_isolated

_MAX_ANSWER_BYTES = 1 << 20
log = get_logger("hook")


class HookAnswers(Struct, frozen=True):
    """The answers of all hooks, and the action with the hooks' changes applied."""

    answers: tuple[HookAnswer, ...]
    action: Action


def is_hook_applicable(hook: PolicyHook, kind: str, stage: str) -> bool:
    return hook.runs in (stage, "both") and (not hook.kinds or kind in hook.kinds)


async def run_hooks(hooks: Sequence[PolicyHook], action: Action, actor: Actor, place: PaneContext) -> HookAnswers:
    """Run the hooks in order. Stop after one that changes the action, because the gate then checks it again."""
    answers: list[HookAnswer] = []
    for hook in hooks:
        if not is_hook_applicable(hook, get_action_kind(action), "before"):
            continue
        hook_input = HookInput(stage="before", kind=get_action_kind(action), action=action, actor=actor, place=place)
        answer, changed = await _run_hook(hook, hook_input)
        answers.append(answer)
        if changed is not None:
            return HookAnswers(tuple(answers), changed)
    return HookAnswers(tuple(answers), action)


async def notify_hooks(hooks: Sequence[PolicyHook], hook_input: HookInput) -> None:
    """Report an outcome to the hooks, ignoring their answers and failures."""
    for hook in hooks:
        if is_hook_applicable(hook, hook_input.kind, "after"):
            await _run_hook(hook, hook_input)


async def _run_hook(hook: PolicyHook, hook_input: HookInput) -> tuple[HookAnswer, Action | None]:
    data = msgspec.json.encode(hook_input)
    # More output than this is an error for the hook, and what it printed is no answer.
    status, out, errors = await run_isolated(
        hook.program, stdin=data, timeout_s=hook.timeout, max_kept_bytes=_MAX_ANSWER_BYTES
    )
    if status != 0:
        why = f"it exited with status {status}: {errors.decode('utf-8', 'replace')[-200:]}"
        return _build_failed_answer(hook, why), None
    try:
        reply = msgspec.json.decode(out, type=HookReply)
    except (msgspec.MsgspecError, ValueError) as error:
        return _build_failed_answer(hook, f"its answer is invalid: {error}"), None
    if reply.decision != "modify":
        return HookAnswer(hook.id, reply.decision, redact(reply.reason)), None
    # A hook that is satisfied with the action it gets may repeat it.
    if reply.action == hook_input.action:
        return HookAnswer(hook.id, "allow", redact(reply.reason)), None
    # A hook may change the fields of an action, but not its kind.
    if not isinstance(reply.action, type(hook_input.action)):
        return _build_failed_answer(hook, "its answer modify has no action of the same kind"), None
    return HookAnswer(hook.id, "modify", redact(reply.reason)), reply.action


def _build_failed_answer(hook: PolicyHook, why: str) -> HookAnswer:
    log.warning("hook %s: %s", hook.id, redact(why))
    return HookAnswer(hook.id, "failed", redact(why))
