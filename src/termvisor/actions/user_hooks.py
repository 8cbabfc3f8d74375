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
from termvisor.log import logger
from termvisor.model.action.action import Action, Actor, kind_of
from termvisor.model.action.policy import Hook
from termvisor.policy.request import HookAnswer, Place
from termvisor.redaction import redact
from termvisor.system.subprocesses import ask

_ANSWER_BYTES = 1 << 20
log = logger("hook")


class Told(Struct, frozen=True, kw_only=True):
    """What a hook reads."""

    stage: str
    kind: str
    action: Action
    actor: Actor
    place: Place
    outcome: str = ""
    why: str = ""


class _Said(Struct, frozen=True):
    decision: str
    reason: str = ""
    action: msgspec.Raw = msgspec.Raw()


class Heard(Struct, frozen=True):
    """The answers of all hooks, and the action as the last of them wants it."""

    answers: tuple[HookAnswer, ...]
    action: Action


def concerns(hook: Hook, kind: str, stage: str) -> bool:
    return hook.runs in (stage, "both") and (not hook.kinds or kind in hook.kinds)


async def ask_hooks(hooks: Sequence[Hook], action: Action, actor: Actor, place: Place) -> Heard:
    """One after the other. A hook that changes the action is the last: the changed one is judged from the start."""
    answers: list[HookAnswer] = []
    for hook in hooks:
        if not concerns(hook, kind_of(action), "before"):
            continue
        told = Told(stage="before", kind=kind_of(action), action=action, actor=actor, place=place)
        answer, changed = await _asked(hook, told)
        answers.append(answer)
        if changed is not None:
            return Heard(tuple(answers), changed)
    return Heard(tuple(answers), action)


async def tell_hooks(hooks: Sequence[Hook], told: Told) -> None:
    """What they answer, or whether they can, changes nothing."""
    for hook in hooks:
        if concerns(hook, told.kind, "after"):
            await _asked(hook, told)


async def _asked(hook: Hook, told: Told) -> tuple[HookAnswer, Action | None]:
    data = msgspec.json.encode(told)
    try:
        status, out, errors = await asyncio.to_thread(ask, list(hook.program), stdin=data, timeout=hook.timeout)
    except (OSError, VisorError, TimeoutError) as error:
        return _failed(hook, str(error)), None
    if status != 0:
        return _failed(hook, f"it ended with status {status}: {errors.decode('utf-8', 'replace')[-200:]}"), None
    try:
        said = msgspec.json.decode(out[:_ANSWER_BYTES], type=_Said)
        changed = msgspec.json.decode(said.action, type=Action) if bytes(said.action) else None
    except (msgspec.MsgspecError, ValueError) as error:
        return _failed(hook, f"its answer cannot be read: {error}"), None
    if said.decision == "modify" and changed is not None and type(changed) is type(told.action):
        return HookAnswer(hook.id, "modify", redact(said.reason)), changed
    if said.decision in ("allow", "deny"):
        return HookAnswer(hook.id, "allow" if said.decision == "allow" else "deny", redact(said.reason)), None
    return _failed(hook, f"{said.decision!r} is no decision"), None


def _failed(hook: Hook, why: str) -> HookAnswer:
    log.warning("hook %s: %s", hook.id, redact(why))
    return HookAnswer(hook.id, "failed", redact(why))
