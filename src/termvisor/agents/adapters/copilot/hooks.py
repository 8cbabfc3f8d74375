"""What Copilot's hooks say. They leave holes: an interruption, a refusal and the last error are told by none.

`permissionRequest` fires for a tool that needs no permission, too; that somebody is asked is told by `notification`.
"""

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.error_classifier import flags_of, kind_of, shown
from termvisor.agents.adapters.json_access import Json, inside, text
from termvisor.agents.adapters.statements import WORK_ANEW, Hook, Meaning, Said, heard, payload, subtask
from termvisor.model.agent.signal import FlagsTold
from termvisor.model.agent.state import StateName

_NOTICES: dict[str, StateName] = {"permission_prompt": "waiting_approval", "elicitation_dialog": "waiting_input"}
_ENDS = {"user_exit": "manual", "abort": "manual", "complete": "completed", "error": "error"}


def read(record: Record) -> list[Said]:
    return heard(record, _meaning, _framed)


def _meaning(hook: Hook) -> Meaning | None:
    """Of what a sub-agent does only that somebody is asked."""
    is_subtask = bool(text(hook.payload, "parentAgentId"))
    return HOOKS.get(hook.event) if not is_subtask or hook.event == "notification" else None


def _framed(told: Json) -> Said:
    session = text(told, "parentAgentId") or text(told, "sessionId")
    return Said(session=session, payload=payload(transcript=text(told, "transcriptPath")))


def _tool(told: Json, now: int) -> Said:
    about = payload(tool=text(told, "toolName"), command=text(inside(told, "toolArgs"), "command"))
    return Said(state="running", payload=about)


def _notified(told: Json, now: int) -> Said | None:
    state = _NOTICES.get(text(told, "notification_type"))
    return Said(state=state, payload=payload(question=text(told, "message"))) if state is not None else None


def _failed(told: Json, now: int) -> Said:
    """One that may pass is tried again, which is work."""
    words = text(inside(told, "error"), "message")
    kind = kind_of(words)
    state: StateName = "running" if told.get("recoverable") is True else "error"
    return Said(state=state, flags=flags_of(kind, words, now), payload=payload(error=kind, message=shown(words)))


def _prompted(told: Json, now: int) -> Said:
    return Said(state="running", flags=WORK_ANEW, payload=payload(prompt=text(told, "prompt")))


HOOKS: dict[str, Meaning] = {
    "sessionStart": lambda told, now: Said(kind="note"),
    "userPromptSubmitted": _prompted,
    "preToolUse": _tool,
    "postToolUse": _tool,
    "postToolUseFailure": _tool,
    "notification": _notified,
    "errorOccurred": _failed,
    "agentStop": lambda told, now: Said(state="completed"),
    "subagentStart": subtask("task_began", "agentId"),
    "subagentStop": subtask("task_ended", "agentId"),
    "preCompact": lambda told, now: Said(state="running", flags=FlagsTold(compacting=True)),
    "sessionEnd": lambda told, now: Said(kind="note", payload=payload(end_reason=_ENDS.get(text(told, "reason")))),
}
"""The hooks to install, and what each of them means."""
