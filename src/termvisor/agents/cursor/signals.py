"""What Cursor's hooks say, by its documentation. `stop` tells how a turn ended, also that somebody stopped it."""

from collections.abc import Callable, Sequence

from termvisor.agents.base import Record
from termvisor.agents.evidence import Said, hook_of, not_understood, payload, signals
from termvisor.agents.foreign import Json, text
from termvisor.agents.trouble import flags_of, kind_of
from termvisor.model.signal import FlagsTold, Signal

AGENT = "cursor"
_WORK_ANEW = FlagsTold(compacting=False, usage_limited=False, auth_needed=False)
_ENDS = {
    "completed": "completed",
    "aborted": "manual",
    "error": "error",
    "window_close": "manual",
    "user_close": "manual",
}


def read(record: Record) -> Sequence[Signal]:
    if record.source != "hook":
        return ()
    hook = hook_of(record)
    if hook is None:
        return signals(AGENT, record, [not_understood(record.text)])
    meaning = HOOKS.get(hook.event)
    said = meaning(hook.payload, record.at) if meaning is not None else None
    if said is None:
        return ()
    told = hook.payload
    about = payload(event=hook.event, model=text(told, "model"), transcript=text(told, "transcript_path"))
    framed = Said(
        kind=said.kind,
        state=said.state,
        reason=said.reason,
        flags=said.flags,
        task=said.task,
        session=text(told, "conversation_id"),
        at=hook.at,
        payload={**about, **said.payload},
    )
    return signals(AGENT, record, [framed])


def _prompted(told: Json, now: int) -> Said:
    return Said(state="running", flags=_WORK_ANEW, payload=payload(prompt=text(told, "prompt")))


def _works(told: Json, now: int) -> Said:
    about = payload(tool=text(told, "tool_name"), command=text(told, "command"))
    return Said(state="running", payload=about)


def _stopped(told: Json, now: int) -> Said:
    status, message = text(told, "status"), text(told, "error_message")
    if status == "completed":
        return Said(state="completed")
    if status == "aborted":
        return Said(state="idle", payload=payload(message="interrupted"))
    if status != "error":
        return not_understood(status)
    kind = kind_of(message)
    return Said(state="error", flags=flags_of(kind, message, now), payload=payload(error=kind, message=message))


def _answered(told: Json, now: int) -> Said:
    return Said(kind="note", payload=payload(last_message=text(told, "text")))


def _subtask_began(told: Json, now: int) -> Said | None:
    task = text(told, "subagent_id")
    return Said(kind="task_began", task=task) if task else None


def _subtask_ended(told: Json, now: int) -> Said | None:
    task = text(told, "subagent_id")
    return Said(kind="task_ended", task=task) if task else None


HOOKS: dict[str, Callable[[Json, int], Said | None]] = {
    "sessionStart": lambda told, now: Said(state="idle", flags=_WORK_ANEW),
    "beforeSubmitPrompt": _prompted,
    "preToolUse": _works,
    "postToolUse": _works,
    "postToolUseFailure": _works,
    "afterShellExecution": _works,
    "afterAgentResponse": _answered,
    "preCompact": lambda told, now: Said(state="running", flags=FlagsTold(compacting=True)),
    "subagentStart": _subtask_began,
    "subagentStop": _subtask_ended,
    "stop": _stopped,
    "sessionEnd": lambda told, now: Said(kind="note", payload=payload(end_reason=_ENDS.get(text(told, "reason")))),
}
"""The hooks to install, and what each of them means."""
