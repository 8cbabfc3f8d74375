"""What the log of a session says (`session-state/<session>/events.jsonl`).

The end of a model's turn is not the end of the task: a tool may have been asked for. The task is done with a message
that asks for none. A command that it left running in the background is a sub-task until a notice ends it. What bears
the id of a sub-agent is its own affair, but for its questions.
"""

import posixpath
import re
from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.error_classifier import AUTH, RATE_LIMIT, USAGE_LIMIT, flags_of, kind_of
from termvisor.agents.adapters.json_access import SECOND, Json, inside, moment, number, parsed, text
from termvisor.agents.adapters.statements import INTERRUPTED, WORK_ANEW, Meaning, Said, not_understood, payload
from termvisor.model.agent.signal import FlagsTold
from termvisor.model.agent.state import StateName

_HISTORY = 3600 * SECOND
"""A session that is taken up again begins with its past; what is older than this is not told."""
_ERRORS = {"authentication": AUTH, "authorization": AUTH, "quota": USAGE_LIMIT, "rate_limit": RATE_LIMIT}
_QUESTIONS = frozenset({"ask_user", "exit_plan_mode"})
_STOPS = frozenset({"stop_bash", "stop_powershell"})
_BACKGROUND = re.compile(r"<command started in (?:the )?background with shellId: (\S+)>\s*")


def read(record: Record) -> list[Said]:
    line = parsed(record.text)
    name = text(line, "type") if line is not None else ""
    if line is None or not name:
        return [not_understood(record.text)]
    at = moment(line.get("timestamp"))
    if at and record.at - at > _HISTORY:
        return []
    task = text(line, "agentId")
    meaning = (_OF_SUBTASKS if task else EVENTS).get(name)
    said = meaning(inside(line, "data"), record.at) if meaning is not None else None
    return [_framed(said, record, name, at, task)] if said is not None else []


def _framed(said: Said, record: Record, name: str, at: int, task: str) -> Said:
    return replace(
        said,
        task=(task or said.task) if said.kind in ("task_began", "task_ended") else "",
        session=posixpath.basename(posixpath.dirname(record.path)),
        at=at,
        payload={**payload(event=name), **said.payload},
    )


def _prompted(told: Json, now: int) -> Said:
    return Said(state="running", flags=WORK_ANEW, payload=payload(prompt=text(told, "content")))


def _message(told: Json, now: int) -> Said | None:
    if told.get("toolRequests") != []:
        return None
    return Said(state="completed", payload=payload(last_message=text(told, "content"), model=text(told, "model")))


def _tool(told: Json, now: int) -> Said:
    tool, given = text(told, "toolName"), inside(told, "arguments")
    if tool in _STOPS:
        return Said(kind="task_ended", task=_shell(text(given, "shellId")))
    if tool in _QUESTIONS:
        question = text(given, "message") or text(given, "question") or text(given, "summary")
        return Said(state="waiting_input", payload=payload(tool=tool, question=question))
    return Said(state="running", payload=payload(tool=tool, command=text(given, "command")))


def _used(told: Json, now: int) -> Said:
    """A command may have been left to run on; nothing else tells that."""
    begun = _BACKGROUND.fullmatch(text(inside(told, "result"), "content"))
    return Said(kind="task_began", task=_shell(begun[1])) if begun else Said(state="running")


def _notified(told: Json, now: int) -> Said | None:
    about = inside(told, "kind")
    is_shell = text(about, "type") == "shell_completed"
    return Said(kind="task_ended", task=_shell(text(about, "shellId"))) if is_shell else None


def _shell(name: str) -> str:
    return f"shell {name}"


def _permission(told: Json, now: int) -> Said:
    asked = inside(told, "permissionRequest")
    about = payload(
        tool=text(asked, "kind"),
        command=text(asked, "fullCommandText"),
        question=text(asked, "intention"),
        file=text(asked, "fileName"),
        request=text(told, "requestId"),
    )
    return Said(state="waiting_approval", payload=about)


def _decided(told: Json, now: int) -> Said:
    kind = text(inside(told, "result"), "kind")
    return Said(state="idle" if kind == "cancelled" else "running", payload=payload(reply=kind))


def _failed(told: Json, now: int) -> Said:
    message = text(told, "message")
    kind = _ERRORS.get(text(told, "errorType")) or kind_of(message, number(told, "statusCode"))
    return Said(state="error", flags=flags_of(kind, message, now), payload=payload(error=kind, message=message))


def _compacted(told: Json, now: int) -> Said:
    """One that a person asked for leaves it at rest; else the work goes on."""
    state: StateName = "idle" if text(told, "trigger") == "manual" else "running"
    return Said(state=state, flags=FlagsTold(compacting=False))


def _started(told: Json, now: int) -> Said:
    about = payload(model=text(told, "selectedModel"), version=text(told, "copilotVersion"))
    return Said(state="idle", flags=WORK_ANEW, tasks=(), payload=about)


def _left(told: Json, now: int) -> Said:
    """It tells the whole account at its end."""
    metrics = inside(told, "modelMetrics") or inside(told, "accountingSnapshot", "modelMetrics")
    usages = [inside(metrics, model, "usage") for model in metrics]
    about = payload(
        input=_sum(usages, "inputTokens"),
        output=_sum(usages, "outputTokens"),
        cached=_sum(usages, "cacheReadTokens"),
        end_reason="error" if text(told, "shutdownType") == "error" else "manual",
    )
    return Said(kind="note", payload=about)


def _sum(usages: Sequence[Json], name: str) -> int | None:
    return sum(number(usage, name) or 0 for usage in usages) if usages else None


_ASKED: dict[str, Meaning] = {"permission.requested": _permission, "permission.completed": _decided}
EVENTS: dict[str, Meaning] = {
    "session.start": _started,
    "session.resume": _started,
    "user.message": _prompted,
    "assistant.turn_start": lambda told, now: Said(state="running"),
    "assistant.message": _message,
    "tool.execution_start": _tool,
    "tool.execution_complete": _used,
    "system.notification": _notified,
    "abort": lambda told, now: Said(state="idle", payload=INTERRUPTED),
    "session.error": _failed,
    "session.compaction_start": lambda told, now: Said(state="running", flags=FlagsTold(compacting=True)),
    "session.compaction_complete": _compacted,
    "session.shutdown": _left,
    **_ASKED,
}
_OF_SUBTASKS: dict[str, Meaning] = {
    "subagent.started": lambda told, now: Said(kind="task_began"),
    "subagent.completed": lambda told, now: Said(kind="task_ended"),
    "subagent.failed": lambda told, now: Said(kind="task_ended"),
    **_ASKED,
}
