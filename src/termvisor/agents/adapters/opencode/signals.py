"""What opencode tells by its plugin (`plugin.js`, beside this file) and by its server (see `relay`), in the same words:
its events, and with the end of a turn how it went.

A sub-agent has a session of its own, whose parent the plugin names: its work is a sub-task. Its questions are asked
on the same screen, so they are the agent's.
"""

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.error_classifier import flags_of, kind_of
from termvisor.agents.adapters.json_access import Json, inside, number, text
from termvisor.agents.adapters.opencode.server_events import LIVES, LOST, RESTS
from termvisor.agents.adapters.statements import INTERRUPTED, Hook, Meaning, Said, heard, payload
from termvisor.model.agent.signal import FlagsTold

PLUGIN = "plugin.js"
SPOOL_MARK = "@SPOOL@"
"""Stands in the plugin for the path of the spool, as JSON writes it between its quotes."""
_ABORTED = "MessageAbortedError"
_UNNAMED = "New session - "


def read(record: Record) -> list[Said]:
    return heard(record, _meaning, lambda told: Said(session=text(told, "parent") or text(told, "sessionID")))


def _meaning(hook: Hook) -> Meaning | None:
    found = (_OF_SUBTASKS if text(hook.payload, "parent") else EVENTS).get(hook.event)
    return found or _OF_ITS_SERVER.get(hook.event)


def _session(told: Json, now: int) -> Said:
    tokens = inside(told, "tokens")
    title = text(told, "title")
    used = {name: number(tokens, name) for name in ("input", "output", "reasoning")}
    known = [count for count in used.values() if count is not None]
    cost = told.get("cost")
    return Said(
        kind="note",
        title=title if title and not title.startswith(_UNNAMED) else None,
        payload=payload(
            version=text(told, "version"),
            model=text(told, "model"),
            cached=number(inside(tokens, "cache"), "read"),
            total=sum(known) if known else None,
            cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
            **used,
        ),
    )


def _status(told: Json, now: int) -> Said | None:
    status = inside(told, "status")
    if text(status, "type") == "busy":
        return Said(state="running")
    if text(status, "type") != "retry":
        return None
    message = text(status, "message")
    kind = kind_of(message)
    about = payload(error=kind, message=message, attempt=number(status, "attempt"))
    return Said(state="running", flags=flags_of(kind, message, now), payload=about)


def _failed(told: Json, now: int) -> Said:
    """A turn that somebody stopped is told as an error, too."""
    error = inside(told, "error")
    if text(error, "name") == _ABORTED:
        return Said(state="idle", payload=INTERRUPTED)
    message = text(error, "message") or text(error, "name")
    kind = kind_of(message, number(error, "status"))
    return Said(state="error", flags=flags_of(kind, message, now), payload=payload(error=kind, message=message))


def _ended(told: Json, now: int) -> Said:
    turn = inside(told, "turn")
    if inside(turn, "error"):
        return _failed(turn, now)
    if turn.get("rejected") is True:
        return Said(state="idle", flags=FlagsTold(compacting=False), payload=payload(message="rejected"))
    return Said(state="completed")


def _permission(told: Json, now: int) -> Said:
    about = inside(told, "metadata")
    asked = payload(
        tool=text(told, "permission"),
        command=text(about, "command"),
        file=text(about, "filepath"),
        request=text(told, "id"),
    )
    return Said(state="waiting_approval", payload=asked)


def _question(told: Json, now: int) -> Said:
    questions = told.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    asked = text(first, "question") if isinstance(first, dict) else ""
    return Said(state="waiting_input", payload=payload(question=asked, request=text(told, "id")))


def _answered(told: Json, now: int) -> Said:
    return Said(state="running", payload=payload(reply=text(told, "reply")))


def _compacting(told: Json, now: int) -> Said | None:
    return Said(state="running", flags=FlagsTold(compacting=True)) if told.get("compacting") is True else None


def _compacted(told: Json, now: int) -> Said:
    return Said(kind="note", flags=FlagsTold(compacting=False))


def _subtask_began(told: Json, now: int) -> Said:
    return Said(kind="task_began", task=text(told, "sessionID") or "unnamed")


def _subtask_ended(told: Json, now: int) -> Said:
    return Said(kind="task_ended", task=text(told, "sessionID") or "unnamed")


_ASKED: dict[str, Meaning] = {
    "permission.asked": _permission,
    "permission.replied": _answered,
    "question.asked": _question,
    "question.replied": _answered,
    "question.rejected": _answered,
}
EVENTS: dict[str, Meaning] = {
    "plugin.loaded": lambda told, now: Said(state="idle"),
    "session.created": _session,
    "session.updated": _session,
    "session.status": _status,
    "session.idle": _ended,
    "session.error": _failed,
    "message.updated": _compacting,
    "session.compacted": _compacted,
    "server.instance.disposed": lambda told, now: Said(kind="note", payload=payload(end_reason="manual")),
    **_ASKED,
}
_OF_SUBTASKS: dict[str, Meaning] = {
    "session.status": _subtask_began,
    "session.idle": _subtask_ended,
    **_ASKED,
}
_OF_ITS_SERVER: dict[str, Meaning] = {
    RESTS: lambda told, now: Said(state="idle"),
    LIVES: lambda told, now: Said(kind="heartbeat"),
    LOST: lambda told, now: Said(kind="source_down"),
}
