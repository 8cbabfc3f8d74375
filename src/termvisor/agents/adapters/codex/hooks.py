"""Hooks and the notify program.

The shared server runs them, so the pane that they name is that of the first Codex that started it, and the process is
the server: only the session and the folder are believed. A Codex without a server runs them itself; then its process
is named, and that is proof.
"""

from collections.abc import Callable

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.codex import error_codes as error_names
from termvisor.agents.adapters.codex import usage
from termvisor.agents.adapters.json_access import Json, inside, moment, number, parsed, text
from termvisor.agents.adapters.statements import Said, framed, not_understood, payload
from termvisor.model.agent.signal import FlagsTold, Hint

TURN_COMPLETE = "agent-turn-complete"
_TITLE_PROMPT = "Generate a concise, single-line task title"
"""How the prompt begins with which Codex asks its model for a title, in a thread of its own."""


def read(record: Record) -> list[Said]:
    line = parsed(record.text)
    if line is None:
        return [not_understood(record.text)]
    told = inside(line, "payload") or line
    event = text(told, "type") or text(told, "hook_event_name") or text(line, "event")
    read_one = _READERS.get(event)
    if read_one is None:
        return [not_understood(event)]
    said = read_one(told, record.at)
    if said is None:
        return []
    session = text(told, "session_id") or text(told, "thread-id")
    hint = Hint(target=record.hint.target, cwd=text(told, "cwd"), via=record.hint.pid)
    return framed([said], session=session, hint=hint, at=_at(line, record))


def _at(line: Json, record: Record) -> int:
    return min(moment(line.get("at")), record.at)


def _began(told: Json, now: int) -> Said:
    return Said(kind="note", payload=payload(model=text(told, "model"), transcript=text(told, "transcript_path")))


def _prompt(told: Json, now: int) -> Said:
    return Said(state="running", payload=payload(prompt=text(told, "prompt")))


def _works(told: Json, now: int) -> Said:
    return Said(state="running", payload=_tool(told))


def _asks(told: Json, now: int) -> Said:
    return Said(state="waiting_approval", payload=_tool(told))


def _tool(told: Json) -> dict[str, str | int | float | bool | None]:
    given = inside(told, "tool_input")
    return payload(tool=text(told, "tool_name"), command=text(given, "command"), question=text(given, "description"))


def _answered(told: Json, now: int) -> Said:
    """The model's answer to one request. A failed one may be tried again, and then says so by the next request."""
    status, used = text(told, "status"), inside(told, "token_usage")
    if status == "failed":
        words = text(told, "error") or text(inside(told, "error"), "message")
        kind = error_names.kind_in(words)
        return Said(
            state="error", flags=error_names.flags_of(kind, words, now), payload=payload(error=kind, message=words)
        )
    if status == "cancelled":
        return Said(state="idle")
    about = payload(model=text(told, "model"), context_tokens=number(used, "total_tokens"))
    return Said(kind="note", payload=about | usage.of_request(f"{text(told, 'turn_id')}@{now}", used))


def _stopped(told: Json, now: int) -> Said:
    return Said(state="completed", payload=payload(last_message=text(told, "last_assistant_message")))


def _interrupted(told: Json, now: int) -> Said:
    return Said(state="idle")


def _compacts(told: Json, now: int) -> Said:
    return Said(state="running", flags=FlagsTold(compacting=True))


def _compacted(told: Json, now: int) -> Said:
    """One that a person asked for is the whole turn; another is only a pause in it."""
    is_all = text(told, "trigger") == "manual"
    return Said(state="completed" if is_all else "running", flags=FlagsTold(compacting=False))


def _ended(told: Json, now: int) -> Said:
    return Said(state="unknown", reason="no_signal")


def _task(told: Json, kind: str) -> Said | None:
    task = text(told, "agent_id")
    return Said(kind="task_began" if kind == "began" else "task_ended", task=task) if task else None


def _turn_complete(told: Json, now: int) -> Said | None:
    prompts = told.get("input-messages")
    first = prompts[0] if isinstance(prompts, list) and prompts else ""
    is_title = isinstance(first, str) and first.startswith(_TITLE_PROMPT)
    return (
        None
        if is_title
        else Said(state="completed", payload=payload(last_message=text(told, "last-assistant-message")))
    )


_READERS: dict[str, Callable[[Json, int], Said | None]] = {
    "SessionStart": _began,
    "UserPromptSubmit": _prompt,
    "PreModelRequest": _works,
    "PostModelRequest": _answered,
    "PreToolUse": _works,
    "PermissionRequest": _asks,
    "PostToolUse": _works,
    "PreCompact": _compacts,
    "PostCompact": _compacted,
    "Stop": _stopped,
    "Interrupt": _interrupted,
    "SessionEnd": _ended,
    "SubagentStart": lambda told, _: _task(told, "began"),
    "SubagentStop": lambda told, _: _task(told, "ended"),
    TURN_COMPLETE: _turn_complete,
}
