"""Read the Copilot event log of a session (`session-state/<session>/events.jsonl`).

The end of a model turn is not the end of the task, because the turn may have requested a tool. A task is completed by a
message without tool requests. A background command is a sub-task until a notification ends it. Events with the id of a
sub-agent do not change the state, except for permission requests.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import (
    AUTH,
    RATE_LIMIT,
    USAGE_LIMIT,
    build_error_statement,
    classify_error,
)
from termvisor.agents.adapters.json_access import (
    NS_PER_SECOND,
    JsonObject,
    get_int,
    get_object,
    get_str,
    parse_json_object,
    parse_timestamp,
)
from termvisor.agents.adapters.statements import (
    CLEARED_FLAGS,
    COMPACTION_END,
    COMPACTION_START,
    INTERRUPTED_PAYLOAD,
    PROMPT_ACCEPTED,
    WAITING_APPROVAL,
    AgentStatement,
    EventTable,
    apply_interpreter,
    build_interpreter,
    build_payload,
    build_unknown_statement,
)
from termvisor.agents.adapters.transcript_text import TranscriptText
from termvisor.model.agent.session import MessageRole
from termvisor.model.agent.state import StateName

# The log of a resumed session begins with old events. Those older than this are ignored.
_MAX_EVENT_AGE_NS = 3600 * NS_PER_SECOND
_KINDS_BY_ERROR_TYPE = {"authentication": AUTH, "authorization": AUTH, "quota": USAGE_LIMIT, "rate_limit": RATE_LIMIT}
_QUESTION_TOOLS = frozenset({"ask_user", "exit_plan_mode"})
_STOP_TOOLS = frozenset({"stop_bash", "stop_powershell"})
_ROLES_BY_EVENT: dict[str, MessageRole] = {"user.message": "user", "assistant.message": "assistant"}
_BACKGROUND_COMMAND = re.compile(r"<command started in (?:the )?background with shellId: (\S+)>\s*")


def read_session_event(record: SourceRecord) -> list[AgentStatement]:
    """Parse one line of the event log."""
    line = parse_json_object(record.text)
    name = get_str(line, "type") if line is not None else ""
    if line is None or not name:
        return [build_unknown_statement(record.text)]
    at = parse_timestamp(line.get("timestamp"))
    if at and record.at - at > _MAX_EVENT_AGE_NS:
        return []
    task = get_str(line, "agentId")
    interpreter = (_SUBTASK_INTERPRETERS if task else EVENT_INTERPRETERS).get(name)
    if interpreter is None:
        return []
    context = AgentStatement(session=_parse_session(record), at=at, payload=build_payload(event=name))
    return [
        replace(statement, task=task) if task and statement.kind in ("task_began", "task_ended") else statement
        for statement in apply_interpreter(interpreter, get_object(line, "data"), record.at, context)
    ]


def read_transcript_text(record: SourceRecord) -> Iterator[TranscriptText]:
    """Extract prompts and answers from the event log, except those of sub-agents."""
    line = parse_json_object(record.text)
    role = _ROLES_BY_EVENT.get(get_str(line, "type")) if line is not None else None
    session = _parse_session(record)
    if line is None or role is None or not session or get_str(line, "agentId"):
        return
    fields = get_object(line, "data")
    text = get_str(fields, "content")
    if text.strip():
        key = get_str(fields, "messageId") or get_str(line, "id")
        yield TranscriptText(role=role, text=text, session=session, key=key, at=parse_timestamp(line.get("timestamp")))


def _parse_session(record: SourceRecord) -> str:
    return posixpath.basename(posixpath.dirname(record.path))


def _read_assistant_message(fields: JsonObject, now: int) -> AgentStatement | None:
    if fields.get("toolRequests") != []:
        return None
    return AgentStatement(
        state="completed",
        payload=build_payload(last_message=get_str(fields, "content"), model=get_str(fields, "model")),
    )


def _read_tool_start(fields: JsonObject, now: int) -> AgentStatement:
    tool, arguments = get_str(fields, "toolName"), get_object(fields, "arguments")
    if tool in _STOP_TOOLS:
        return AgentStatement(kind="task_ended", task=_build_shell_task_id(get_str(arguments, "shellId")))
    if tool in _QUESTION_TOOLS:
        question = get_str(arguments, "message") or get_str(arguments, "question") or get_str(arguments, "summary")
        return AgentStatement(state="waiting_input", payload=build_payload(tool=tool, question=question))
    return AgentStatement(state="running", payload=build_payload(tool=tool, command=get_str(arguments, "command")))


def _read_tool_end(fields: JsonObject, now: int) -> AgentStatement:
    # Only the text of the result shows that a command was left running in the background.
    if match := _BACKGROUND_COMMAND.fullmatch(get_str(get_object(fields, "result"), "content")):
        return AgentStatement(kind="task_began", task=_build_shell_task_id(match[1]))
    return AgentStatement(state="running")


def _read_notification(fields: JsonObject, now: int) -> AgentStatement | None:
    kind = get_object(fields, "kind")
    is_shell = get_str(kind, "type") == "shell_completed"
    return AgentStatement(kind="task_ended", task=_build_shell_task_id(get_str(kind, "shellId"))) if is_shell else None


def _build_shell_task_id(name: str) -> str:
    return f"shell {name}"


def _read_permission_result(fields: JsonObject, now: int) -> AgentStatement:
    kind = get_str(get_object(fields, "result"), "kind")
    return AgentStatement(state="idle" if kind == "cancelled" else "running", payload=build_payload(reply=kind))


def _read_error(fields: JsonObject, now: int) -> AgentStatement:
    message = get_str(fields, "message")
    kind = _KINDS_BY_ERROR_TYPE.get(get_str(fields, "errorType")) or classify_error(
        message, get_int(fields, "statusCode")
    )
    return build_error_statement(kind, message, now)


def _read_compaction_start(fields: JsonObject, now: int) -> AgentStatement:
    # Older versions do not tell whether it happens within a turn, so it must not change the state.
    return COMPACTION_START if get_str(fields, "trigger") else replace(COMPACTION_START, kind="note", state=None)


def _read_compaction_end(fields: JsonObject, now: int) -> AgentStatement:
    trigger = get_str(fields, "trigger")
    # A manual compaction is the whole turn; an automatic one happens within a turn.
    state: StateName = "idle" if trigger == "manual" else "running"
    return replace(COMPACTION_END, kind="state", state=state) if trigger else COMPACTION_END


def _read_session_start(fields: JsonObject, now: int) -> AgentStatement:
    payload = build_payload(model=get_str(fields, "selectedModel"), version=get_str(fields, "copilotVersion"))
    return AgentStatement(state="idle", flags=CLEARED_FLAGS, tasks=(), payload=payload)


def _read_shutdown(fields: JsonObject, now: int) -> AgentStatement:
    """Read the token totals that a session reports when it ends."""
    metrics = get_object(fields, "modelMetrics") or get_object(fields, "accountingSnapshot", "modelMetrics")
    usages = [get_object(metrics, model, "usage") for model in metrics]
    payload = build_payload(
        input=_sum_tokens(usages, "inputTokens"),
        output=_sum_tokens(usages, "outputTokens"),
        cached=_sum_tokens(usages, "cacheReadTokens"),
        end_reason="error" if get_str(fields, "shutdownType") == "error" else "manual",
    )
    return AgentStatement(kind="note", payload=payload)


def _sum_tokens(usages: Sequence[JsonObject], name: str) -> int | None:
    return sum(get_int(usage, name) or 0 for usage in usages) if usages else None


_PERMISSION_INTERPRETERS: EventTable = {
    "permission.requested": build_interpreter(
        WAITING_APPROVAL,
        tool="permissionRequest.kind",
        command="permissionRequest.fullCommandText",
        question="permissionRequest.intention",
        file="permissionRequest.fileName",
        request="requestId",
    ),
    "permission.completed": _read_permission_result,
}
EVENT_INTERPRETERS: EventTable = {
    "session.start": _read_session_start,
    "session.resume": _read_session_start,
    "user.message": build_interpreter(PROMPT_ACCEPTED, prompt="content"),
    "assistant.turn_start": AgentStatement(state="running"),
    "assistant.message": _read_assistant_message,
    "tool.execution_start": _read_tool_start,
    "tool.execution_complete": _read_tool_end,
    "system.notification": _read_notification,
    "abort": AgentStatement(state="idle", payload=INTERRUPTED_PAYLOAD),
    "session.error": _read_error,
    "session.compaction_start": _read_compaction_start,
    "session.compaction_complete": _read_compaction_end,
    "session.shutdown": _read_shutdown,
    **_PERMISSION_INTERPRETERS,
}
_SUBTASK_INTERPRETERS: EventTable = {
    "subagent.started": AgentStatement(kind="task_began"),
    "subagent.completed": AgentStatement(kind="task_ended"),
    "subagent.failed": AgentStatement(kind="task_ended"),
    **_PERMISSION_INTERPRETERS,
}
