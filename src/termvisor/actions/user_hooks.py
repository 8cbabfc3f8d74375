"""Programs of the user that are asked about an action, and told what came of it.

A hook gets one JSON object on stdin and answers with one: ``decision`` (allow, deny or modify), ``reason``, and for
modify the ``action`` it wants instead. Whatever else happens (a crash, a timeout, an answer that cannot be read) counts
as a deny.
"""

import asyncio
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Action, Actor, get_action_kind
from termvisor.model.action.policy import PolicyHook
from termvisor.policy.request import HookAnswer, PaneContext
from termvisor.redaction import redact
from termvisor.system.subprocesses import run_and_capture

_MAX_ANSWER_BYTES = 1 << 20
log = get_logger("hook")


class HookInput(Struct, frozen=True, kw_only=True):
    """What a hook reads."""

    stage: str
    kind: str
    action: Action
    actor: Actor
    place: PaneContext
    outcome: str = ""
    why: str = ""


class _HookReply(Struct, frozen=True):
    decision: str
    reason: str = ""
    action: msgspec.Raw = msgspec.Raw()


class HookAnswers(Struct, frozen=True):
    """The answers of all hooks, and the action as the last of them wants it."""

    answers: tuple[HookAnswer, ...]
    action: Action


def is_hook_applicable(hook: PolicyHook, kind: str, stage: str) -> bool:
    return hook.runs in (stage, "both") and (not hook.kinds or kind in hook.kinds)


async def ask_hooks(hooks: Sequence[PolicyHook], action: Action, actor: Actor, place: PaneContext) -> HookAnswers:
    """One after the other. A hook that changes the action is the last: the changed one is judged from the start."""
    answers: list[HookAnswer] = []
    for hook in hooks:
        if not is_hook_applicable(hook, get_action_kind(action), "before"):
            continue
        told = HookInput(stage="before", kind=get_action_kind(action), action=action, actor=actor, place=place)
        answer, changed = await _run_hook(hook, told)
        answers.append(answer)
        if changed is not None:
            return HookAnswers(tuple(answers), changed)
    return HookAnswers(tuple(answers), action)


async def notify_hooks(hooks: Sequence[PolicyHook], hook_input: HookInput) -> None:
    """What they answer, or whether they can, changes nothing."""
    for hook in hooks:
        if is_hook_applicable(hook, hook_input.kind, "after"):
            await _run_hook(hook, hook_input)


async def _run_hook(hook: PolicyHook, hook_input: HookInput) -> tuple[HookAnswer, Action | None]:
    data = msgspec.json.encode(hook_input)
    try:
        status, out, errors = await asyncio.to_thread(
            run_and_capture, list(hook.program), stdin=data, timeout_s=hook.timeout
        )
    except (OSError, VisorError, TimeoutError) as error:
        return _build_failed_answer(hook, str(error)), None
    if status != 0:
        return _build_failed_answer(
            hook, f"it ended with status {status}: {errors.decode('utf-8', 'replace')[-200:]}"
        ), None
    try:
        said = msgspec.json.decode(out[:_MAX_ANSWER_BYTES], type=_HookReply)
        changed = msgspec.json.decode(said.action, type=Action) if bytes(said.action) else None
    except (msgspec.MsgspecError, ValueError) as error:
        return _build_failed_answer(hook, f"its answer cannot be read: {error}"), None
    if said.decision == "modify" and changed is not None and type(changed) is type(hook_input.action):
        return HookAnswer(hook.id, "modify", redact(said.reason)), changed
    if said.decision in ("allow", "deny"):
        return HookAnswer(hook.id, "allow" if said.decision == "allow" else "deny", redact(said.reason)), None
    return _build_failed_answer(hook, f"{said.decision!r} is no decision"), None


def _build_failed_answer(hook: PolicyHook, why: str) -> HookAnswer:
    log.warning("hook %s: %s", hook.id, redact(why))
    return HookAnswer(hook.id, "failed", redact(why))
