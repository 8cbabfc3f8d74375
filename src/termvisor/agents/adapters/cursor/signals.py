"""What Cursor's hooks say, by its documentation. `stop` tells how a turn ended, also that somebody stopped it."""

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.error_classifier import flags_of, kind_of
from termvisor.agents.adapters.json_access import Json, text
from termvisor.agents.adapters.statements import (
    INTERRUPTED,
    WORK_ANEW,
    Meaning,
    Said,
    heard,
    not_understood,
    payload,
    subtask,
)
from termvisor.model.agent.signal import FlagsTold

_ENDS = {
    "completed": "completed",
    "aborted": "manual",
    "error": "error",
    "window_close": "manual",
    "user_close": "manual",
}


def read(record: Record) -> list[Said]:
    return heard(record, lambda hook: HOOKS.get(hook.event), _framed)


def _framed(told: Json) -> Said:
    about = payload(model=text(told, "model"), transcript=text(told, "transcript_path"))
    return Said(session=text(told, "conversation_id"), payload=about)


def _prompted(told: Json, now: int) -> Said:
    return Said(state="running", flags=WORK_ANEW, payload=payload(prompt=text(told, "prompt")))


def _works(told: Json, now: int) -> Said:
    about = payload(tool=text(told, "tool_name"), command=text(told, "command"))
    return Said(state="running", payload=about)


def _stopped(told: Json, now: int) -> Said:
    status, message = text(told, "status"), text(told, "error_message")
    if status == "completed":
        return Said(state="completed")
    if status == "aborted":
        return Said(state="idle", payload=INTERRUPTED)
    if status != "error":
        return not_understood(status)
    kind = kind_of(message)
    return Said(state="error", flags=flags_of(kind, message, now), payload=payload(error=kind, message=message))


def _answered(told: Json, now: int) -> Said:
    return Said(kind="note", payload=payload(last_message=text(told, "text")))


HOOKS: dict[str, Meaning] = {
    "sessionStart": lambda told, now: Said(state="idle", flags=WORK_ANEW),
    "beforeSubmitPrompt": _prompted,
    "preToolUse": _works,
    "postToolUse": _works,
    "postToolUseFailure": _works,
    "afterShellExecution": _works,
    "afterAgentResponse": _answered,
    "preCompact": lambda told, now: Said(state="running", flags=FlagsTold(compacting=True)),
    "subagentStart": subtask("task_began", "subagent_id"),
    "subagentStop": subtask("task_ended", "subagent_id"),
    "stop": _stopped,
    "sessionEnd": lambda told, now: Said(kind="note", payload=payload(end_reason=_ENDS.get(text(told, "reason")))),
}
"""The hooks to install, and what each of them means."""
