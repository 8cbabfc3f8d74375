"""Read opencode events from our plugin (`plugin.js`) and from its server (see `server_events`), in the same format.

The end of a turn has its outcome. A sub-agent has its own session with a parent and counts as a sub-task; its
permission requests and questions appear on the same screen, so they set the state of the agent.
"""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import build_error_flags, classify_error
from termvisor.agents.adapters.json_access import JsonObject, get_int, get_object, get_str
from termvisor.agents.adapters.opencode.server_events import CONNECTION_LOST_EVENT, HEARTBEAT_EVENT, IDLE_EVENT
from termvisor.agents.adapters.statements import (
    INTERRUPTED_PAYLOAD,
    AgentStatement,
    EventInterpreter,
    HookEvent,
    build_payload,
    read_hook_event,
)
from termvisor.model.agent.signal import FlagUpdate

PLUGIN_FILE = "plugin.js"
SPOOL_PLACEHOLDER = "@SPOOL@"
"""Placeholder in the plugin for the path of the spool, escaped as in a JSON string."""
_ABORTED_ERROR = "MessageAbortedError"
_DEFAULT_TITLE_PREFIX = "New session - "


def read_event(record: SourceRecord) -> list[AgentStatement]:
    """Parse one event."""
    return read_hook_event(
        record,
        _find_interpreter,
        lambda fields: AgentStatement(session=get_str(fields, "parent") or get_str(fields, "sessionID")),
    )


def _find_interpreter(hook: HookEvent) -> EventInterpreter | None:
    interpreters = _SUBTASK_INTERPRETERS if get_str(hook.payload, "parent") else EVENT_INTERPRETERS
    return interpreters.get(hook.event) or _SERVER_INTERPRETERS.get(hook.event)


def _read_session(fields: JsonObject, now: int) -> AgentStatement:
    tokens = get_object(fields, "tokens")
    title = get_str(fields, "title")
    counts = {name: get_int(tokens, name) for name in ("input", "output", "reasoning")}
    known = [count for count in counts.values() if count is not None]
    cost = fields.get("cost")
    return AgentStatement(
        kind="note",
        title=title if title and not title.startswith(_DEFAULT_TITLE_PREFIX) else None,
        payload=build_payload(
            version=get_str(fields, "version"),
            model=get_str(fields, "model"),
            cached=get_int(get_object(tokens, "cache"), "read"),
            total=sum(known) if known else None,
            cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
            **counts,
        ),
    )


def _read_status(fields: JsonObject, now: int) -> AgentStatement | None:
    status = get_object(fields, "status")
    if get_str(status, "type") == "busy":
        return AgentStatement(state="running")
    if get_str(status, "type") != "retry":
        return None
    message = get_str(status, "message")
    kind = classify_error(message)
    payload = build_payload(error=kind, message=message, attempt=get_int(status, "attempt"))
    return AgentStatement(state="running", flags=build_error_flags(kind, message, now), payload=payload)


def _read_error(fields: JsonObject, now: int) -> AgentStatement:
    error = get_object(fields, "error")
    if get_str(error, "name") == _ABORTED_ERROR:  # opencode reports an interrupt as an error
        return AgentStatement(state="idle", payload=INTERRUPTED_PAYLOAD)
    message = get_str(error, "message") or get_str(error, "name")
    kind = classify_error(message, get_int(error, "status"))
    return AgentStatement(
        state="error", flags=build_error_flags(kind, message, now), payload=build_payload(error=kind, message=message)
    )


def _read_idle(fields: JsonObject, now: int) -> AgentStatement:
    turn = get_object(fields, "turn")
    if get_object(turn, "error"):
        return _read_error(turn, now)
    if turn.get("rejected") is True:
        return AgentStatement(
            state="idle", flags=FlagUpdate(compacting=False), payload=build_payload(message="rejected")
        )
    return AgentStatement(state="completed")


def _read_permission_request(fields: JsonObject, now: int) -> AgentStatement:
    metadata = get_object(fields, "metadata")
    payload = build_payload(
        tool=get_str(fields, "permission"),
        command=get_str(metadata, "command"),
        file=get_str(metadata, "filepath"),
        request=get_str(fields, "id"),
    )
    return AgentStatement(state="waiting_approval", payload=payload)


def _read_question(fields: JsonObject, now: int) -> AgentStatement:
    questions = fields.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    question = get_str(first, "question") if isinstance(first, dict) else ""
    payload = build_payload(question=question, request=get_str(fields, "id"))
    return AgentStatement(state="waiting_input", payload=payload)


def _read_answer(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running", payload=build_payload(reply=get_str(fields, "reply")))


def _read_compaction_start(fields: JsonObject, now: int) -> AgentStatement | None:
    is_start = fields.get("compacting") is True
    return AgentStatement(state="running", flags=FlagUpdate(compacting=True)) if is_start else None


def _read_compaction_end(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(kind="note", flags=FlagUpdate(compacting=False))


def _read_subtask_start(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(kind="task_began", task=get_str(fields, "sessionID") or "unnamed")


def _read_subtask_end(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(kind="task_ended", task=get_str(fields, "sessionID") or "unnamed")


_REQUEST_INTERPRETERS: dict[str, EventInterpreter] = {
    "permission.asked": _read_permission_request,
    "permission.replied": _read_answer,
    "question.asked": _read_question,
    "question.replied": _read_answer,
    "question.rejected": _read_answer,
}
EVENT_INTERPRETERS: dict[str, EventInterpreter] = {
    "plugin.loaded": lambda fields, now: AgentStatement(state="idle"),
    "session.created": _read_session,
    "session.updated": _read_session,
    "session.status": _read_status,
    "session.idle": _read_idle,
    "session.error": _read_error,
    "message.updated": _read_compaction_start,
    "session.compacted": _read_compaction_end,
    "server.instance.disposed": lambda fields, now: AgentStatement(
        kind="note", payload=build_payload(end_reason="manual")
    ),
    **_REQUEST_INTERPRETERS,
}
_SUBTASK_INTERPRETERS: dict[str, EventInterpreter] = {
    "session.status": _read_subtask_start,
    "session.idle": _read_subtask_end,
    **_REQUEST_INTERPRETERS,
}
_SERVER_INTERPRETERS: dict[str, EventInterpreter] = {
    IDLE_EVENT: lambda fields, now: AgentStatement(state="idle"),
    HEARTBEAT_EVENT: lambda fields, now: AgentStatement(kind="heartbeat"),
    CONNECTION_LOST_EVENT: lambda fields, now: AgentStatement(kind="source_down"),
}
