"""Read opencode events from our plugin (`plugin.js`) and from its server (see `server_events`), in the same format.

The end of a turn includes its outcome. A sub-agent has its own session with a parent and counts as a sub-task. Its
permission requests and questions appear on the same screen, so they set the state of the agent.
"""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import build_error_flags, build_error_statement, classify_error
from termvisor.agents.adapters.json_access import JsonObject, get_int, get_object, get_str
from termvisor.agents.adapters.opencode.server_events import CONNECTION_LOST_EVENT, HEARTBEAT_EVENT, IDLE_EVENT
from termvisor.agents.adapters.statements import (
    COMPACTION_END,
    COMPACTION_START,
    COMPLETED,
    INTERRUPTED_PAYLOAD,
    RUNNING,
    WAITING_APPROVAL,
    AgentStatement,
    EventInterpreter,
    EventTable,
    HookEvent,
    build_interpreter,
    build_payload,
    read_hook_event,
)
from termvisor.model.agent.signal import FlagUpdate, SignalKind

_DEFAULT_TITLE_PREFIX = "New session - "


def read_event(record: SourceRecord) -> list[AgentStatement]:
    """Parse one event."""
    return read_hook_event(
        record,
        _find_interpreter,
        lambda fields: AgentStatement(session=get_str(fields, "parent") or get_str(fields, "sessionID")),
    )


def _find_interpreter(hook: HookEvent) -> EventInterpreter | AgentStatement | None:
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
        return RUNNING
    if get_str(status, "type") != "retry":
        return None
    message = get_str(status, "message")
    # opencode retries indefinitely, so the agent is still working.
    kind = classify_error(message)
    payload = build_payload(error=kind, message=message, attempt=get_int(status, "attempt"))
    return AgentStatement(state="running", flags=build_error_flags(kind, message, now), payload=payload)


def _read_error(fields: JsonObject, now: int) -> AgentStatement:
    error = get_object(fields, "error")
    if get_str(error, "name") == "MessageAbortedError":  # opencode reports an interrupt as an error
        return AgentStatement(state="idle", payload=INTERRUPTED_PAYLOAD)
    message = get_str(error, "message") or get_str(error, "name")
    return build_error_statement(classify_error(message, get_int(error, "status")), message, now)


def _read_idle(fields: JsonObject, now: int) -> AgentStatement:
    turn = get_object(fields, "turn")
    if get_object(turn, "error"):
        return _read_error(turn, now)
    if turn.get("rejected") is True:
        return AgentStatement(
            state="idle", flags=FlagUpdate(compacting=False), payload=build_payload(message="rejected")
        )
    return COMPLETED


def _read_question(fields: JsonObject, now: int) -> AgentStatement:
    questions = fields.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    question = get_str(first, "question") if isinstance(first, dict) else ""
    payload = build_payload(question=question, request=get_str(fields, "id"))
    return AgentStatement(state="waiting_input", payload=payload)


def _build_subtask_interpreter(kind: SignalKind) -> EventInterpreter:
    return lambda fields, now: AgentStatement(kind=kind, task=get_str(fields, "sessionID") or "unnamed")


_ANSWER_INTERPRETER = build_interpreter(RUNNING, reply="reply")
_REQUEST_INTERPRETERS: EventTable = {
    "permission.asked": build_interpreter(
        WAITING_APPROVAL, tool="permission", command="metadata.command", file="metadata.filepath", request="id"
    ),
    "permission.replied": _ANSWER_INTERPRETER,
    "question.asked": _read_question,
    "question.replied": _ANSWER_INTERPRETER,
    "question.rejected": _ANSWER_INTERPRETER,
}
EVENT_INTERPRETERS: EventTable = {
    "plugin.loaded": AgentStatement(state="idle"),
    "session.created": _read_session,
    "session.updated": _read_session,
    "session.status": _read_status,
    "session.idle": _read_idle,
    "session.error": _read_error,
    "message.updated": lambda fields, now: COMPACTION_START if fields.get("compacting") is True else None,
    "session.compacted": COMPACTION_END,
    "server.instance.disposed": AgentStatement(kind="note", payload={"end_reason": "manual"}),
    **_REQUEST_INTERPRETERS,
}
_SUBTASK_INTERPRETERS: EventTable = {
    "session.status": _build_subtask_interpreter("task_began"),
    "session.idle": _build_subtask_interpreter("task_ended"),
    **_REQUEST_INTERPRETERS,
}
_SERVER_INTERPRETERS: EventTable = {
    IDLE_EVENT: AgentStatement(state="idle"),
    HEARTBEAT_EVENT: AgentStatement(kind="heartbeat"),
    CONNECTION_LOST_EVENT: AgentStatement(kind="source_down"),
}
