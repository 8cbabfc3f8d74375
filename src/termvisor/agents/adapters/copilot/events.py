"""Read the Copilot event log of a session (`session-state/<session>/events.jsonl`).

The end of a model turn is not the end of the task, because it may have requested a tool. The task is completed by a
message without tool requests. A background command is a sub-task until a notification ends it. Events with the id of a
sub-agent do not change the state, except for permission requests.
"""

import posixpath
import re
from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import AUTH, RATE_LIMIT, USAGE_LIMIT, build_error_flags, classify_error
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
    INTERRUPTED_PAYLOAD,
    AgentStatement,
    EventInterpreter,
    build_payload,
    build_unknown_statement,
)
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.agent.state import StateName

_MAX_EVENT_AGE_NS = 3600 * NS_PER_SECOND
"""The log of a resumed session begins with old events; those older than this are ignored."""
_KINDS_BY_ERROR_TYPE = {"authentication": AUTH, "authorization": AUTH, "quota": USAGE_LIMIT, "rate_limit": RATE_LIMIT}
_QUESTION_TOOLS = frozenset({"ask_user", "exit_plan_mode"})
_STOP_TOOLS = frozenset({"stop_bash", "stop_powershell"})
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
    interpret = (_SUBTASK_INTERPRETERS if task else EVENT_INTERPRETERS).get(name)
    statement = interpret(get_object(line, "data"), record.at) if interpret is not None else None
    if statement is None:
        return []
    context = replace(
        statement,
        task=(task or statement.task) if statement.kind in ("task_began", "task_ended") else "",
        session=posixpath.basename(posixpath.dirname(record.path)),
        at=at,
        payload={**build_payload(event=name), **statement.payload},
    )
    return [context]


def _read_prompt(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(
        state="running", flags=CLEARED_FLAGS, payload=build_payload(prompt=get_str(fields, "content"))
    )


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


def _read_permission_request(fields: JsonObject, now: int) -> AgentStatement:
    request = get_object(fields, "permissionRequest")
    payload = build_payload(
        tool=get_str(request, "kind"),
        command=get_str(request, "fullCommandText"),
        question=get_str(request, "intention"),
        file=get_str(request, "fileName"),
        request=get_str(fields, "requestId"),
    )
    return AgentStatement(state="waiting_approval", payload=payload)


def _read_permission_result(fields: JsonObject, now: int) -> AgentStatement:
    kind = get_str(get_object(fields, "result"), "kind")
    return AgentStatement(state="idle" if kind == "cancelled" else "running", payload=build_payload(reply=kind))


def _read_error(fields: JsonObject, now: int) -> AgentStatement:
    message = get_str(fields, "message")
    kind = _KINDS_BY_ERROR_TYPE.get(get_str(fields, "errorType")) or classify_error(
        message, get_int(fields, "statusCode")
    )
    return AgentStatement(
        state="error", flags=build_error_flags(kind, message, now), payload=build_payload(error=kind, message=message)
    )


def _read_compaction_end(fields: JsonObject, now: int) -> AgentStatement:
    # A manual compaction is the whole turn; an automatic one happens within a turn.
    state: StateName = "idle" if get_str(fields, "trigger") == "manual" else "running"
    return AgentStatement(state=state, flags=FlagUpdate(compacting=False))


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


_PERMISSION_INTERPRETERS: dict[str, EventInterpreter] = {
    "permission.requested": _read_permission_request,
    "permission.completed": _read_permission_result,
}
EVENT_INTERPRETERS: dict[str, EventInterpreter] = {
    "session.start": _read_session_start,
    "session.resume": _read_session_start,
    "user.message": _read_prompt,
    "assistant.turn_start": lambda fields, now: AgentStatement(state="running"),
    "assistant.message": _read_assistant_message,
    "tool.execution_start": _read_tool_start,
    "tool.execution_complete": _read_tool_end,
    "system.notification": _read_notification,
    "abort": lambda fields, now: AgentStatement(state="idle", payload=INTERRUPTED_PAYLOAD),
    "session.error": _read_error,
    "session.compaction_start": lambda fields, now: AgentStatement(state="running", flags=FlagUpdate(compacting=True)),
    "session.compaction_complete": _read_compaction_end,
    "session.shutdown": _read_shutdown,
    **_PERMISSION_INTERPRETERS,
}
_SUBTASK_INTERPRETERS: dict[str, EventInterpreter] = {
    "subagent.started": lambda fields, now: AgentStatement(kind="task_began"),
    "subagent.completed": lambda fields, now: AgentStatement(kind="task_ended"),
    "subagent.failed": lambda fields, now: AgentStatement(kind="task_ended"),
    **_PERMISSION_INTERPRETERS,
}
