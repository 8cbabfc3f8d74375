"""Read messages from the Codex app-server: notifications, requests to subscribers, and answers to our requests.

A message has the id of its thread; its process has already been found (see `threads`). Threads that Codex starts to
generate a title have been filtered out.
"""

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.codex.error_codes import build_code_error_statement
from termvisor.agents.adapters.codex.usage import build_usage_payload, build_window_flags, build_window_payload
from termvisor.agents.adapters.json_access import (
    JsonObject,
    get_int,
    get_object,
    get_str,
    parse_json_object,
    parse_timestamp,
)
from termvisor.agents.adapters.statements import (
    COMPACTION_END,
    COMPACTION_START,
    WAITING_APPROVAL,
    AgentStatement,
    EventTable,
    apply_interpreter,
    build_interpreter,
    build_payload,
    build_unknown_statement,
)
from termvisor.model.agent.state import StateName

# Our own method name: the connection to the server was lost.
CONNECTION_LOST = "connection/lost"
# Our own method names for one thread or its last turn, taken from the answer to the request of that name.
THREAD_LISTED, TURN_LISTED_METHOD = "thread/list", "thread/turns/list"

_STATES_BY_STATUS: dict[str, StateName] = {"idle": "idle", "active": "running", "systemError": "error"}
_STATES_BY_WAIT_FLAG: dict[str, StateName] = {
    "waitingOnApproval": "waiting_approval",
    "waitingOnUserInput": "waiting_input",
}
_STATES_BY_TURN_STATUS: dict[str, StateName] = {
    "completed": "completed",
    "interrupted": "idle",
    "inProgress": "running",
}
_COMPACTION_ITEM = "contextCompaction"


def read_server_message(record: SourceRecord) -> list[AgentStatement]:
    """Parse one message."""
    message = parse_json_object(record.text)
    if message is None:
        return [build_unknown_statement(record.text)]
    params = get_object(message, "params")
    context = AgentStatement(
        session=_find_session(params), at=min(parse_timestamp(message.get("emittedAtMs")), record.at)
    )
    return apply_interpreter(_MESSAGE_INTERPRETERS.get(get_str(message, "method")), params, record.at, context)


def _parse_thread_state(status: JsonObject) -> StateName | None:
    """Return the state of a thread; `unknown` for an unsupported status, None if the thread is not loaded."""
    kind = get_str(status, "type")
    if kind == "notLoaded":
        return None
    flags = status.get("activeFlags")
    if kind == "active" and isinstance(flags, list):
        for flag in flags:
            if flag in _STATES_BY_WAIT_FLAG:
                return _STATES_BY_WAIT_FLAG[flag]
    return _STATES_BY_STATUS.get(kind, "unknown")


def _find_session(params: JsonObject) -> str:
    """Return the thread; for a sub-agent, the thread that started it."""
    return (
        get_str(params, "parentThreadId") or get_str(params, "threadId") or get_str(get_object(params, "thread"), "id")
    )


def _read_thread(params: JsonObject, now: int) -> AgentStatement | None:
    thread = get_object(params, "thread")
    statement = _build_status_statement(params, get_object(thread, "status"))
    if statement is None or statement.task:
        return statement
    payload = build_payload(
        model=get_str(thread, "model"), version=get_str(thread, "cliVersion"), transcript=get_str(thread, "path")
    )
    return replace(statement, title=get_str(thread, "name") or None, payload=payload)


def _build_status_statement(params: JsonObject, status: JsonObject) -> AgentStatement | None:
    state = _parse_thread_state(status)
    child = get_str(params, "childThreadId")
    if child and state not in _STATES_BY_WAIT_FLAG.values():
        return AgentStatement(kind="task_began" if state == "running" else "task_ended", task=child)
    if state is None:
        return None
    return AgentStatement(state=state, reason="unsupported_signal" if state == "unknown" else None)


def _read_turn(params: JsonObject, now: int) -> AgentStatement | None:
    turn = get_object(params, "turn")
    if get_str(turn, "status") == "failed":
        return _build_error_statement(get_object(turn, "error"), now)
    state = _STATES_BY_TURN_STATUS.get(get_str(turn, "status"))
    return (
        AgentStatement(state=state, payload=build_payload(last_message=_find_last_message(turn)))
        if state is not None
        else None
    )


def _find_last_message(turn: JsonObject) -> str:
    items = turn.get("items")
    messages = [item for item in items if get_str(item, "type") == "agentMessage"] if isinstance(items, list) else []
    return get_str(messages[-1], "text") if messages else ""


def _build_error_statement(error: JsonObject, now: int) -> AgentStatement:
    return build_code_error_statement(error.get("codexErrorInfo"), get_str(error, "message"), now)


def _read_error(params: JsonObject, now: int) -> AgentStatement:
    # An error that Codex will retry is not the end of the turn.
    failed = _build_error_statement(get_object(params, "error"), now)
    return AgentStatement(state="running", payload=failed.payload) if params.get("willRetry") is True else failed


def _read_item_started(params: JsonObject, now: int) -> AgentStatement | None:
    item = get_object(params, "item")
    if get_str(item, "type") == _COMPACTION_ITEM:
        return COMPACTION_START
    command = get_str(item, "command")
    return (
        AgentStatement(kind="note", payload=build_payload(tool=get_str(item, "type"), command=command))
        if command
        else None
    )


def _read_item_completed(params: JsonObject, now: int) -> AgentStatement | None:
    return COMPACTION_END if get_str(get_object(params, "item"), "type") == _COMPACTION_ITEM else None


def _read_question(params: JsonObject, now: int) -> AgentStatement:
    questions = params.get("questions")
    first = questions[0] if isinstance(questions, list) and questions and isinstance(questions[0], dict) else params
    return AgentStatement(
        state="waiting_input", payload=build_payload(question=get_str(first, "question") or get_str(first, "message"))
    )


def _read_token_usage(params: JsonObject, now: int) -> AgentStatement:
    usage = get_object(params, "tokenUsage")
    window = get_int(usage, "modelContextWindow")
    return AgentStatement(
        kind="note", payload=build_usage_payload(get_object(usage, "total"), get_object(usage, "last"), window)
    )


def _read_rate_limits(params: JsonObject, now: int) -> AgentStatement:
    limits = params.get("rateLimits")
    return AgentStatement(kind="note", flags=build_window_flags(limits), payload=build_window_payload(limits))


_APPROVAL_INTERPRETER = build_interpreter(WAITING_APPROVAL, command="command", question="reason")
# Other messages do not contain the state.
_MESSAGE_INTERPRETERS: EventTable = {
    "thread/status/changed": lambda params, now: _build_status_statement(params, get_object(params, "status")),
    "thread/started": _read_thread,
    THREAD_LISTED: _read_thread,
    TURN_LISTED_METHOD: _read_turn,
    "turn/started": _read_turn,
    "turn/completed": _read_turn,
    "error": _read_error,
    "item/started": _read_item_started,
    "item/completed": _read_item_completed,
    "thread/compacted": COMPACTION_END,
    "thread/tokenUsage/updated": _read_token_usage,
    "account/rateLimits/updated": _read_rate_limits,
    "thread/name/updated": lambda params, now: AgentStatement(kind="note", title=get_str(params, "threadName")),
    "item/commandExecution/requestApproval": _APPROVAL_INTERPRETER,
    "item/fileChange/requestApproval": _APPROVAL_INTERPRETER,
    "item/permissions/requestApproval": _APPROVAL_INTERPRETER,
    "applyPatchApproval": _APPROVAL_INTERPRETER,
    "execCommandApproval": _APPROVAL_INTERPRETER,
    "item/tool/requestUserInput": _read_question,
    "mcpServer/elicitation/request": _read_question,
    CONNECTION_LOST: AgentStatement(kind="source_down"),
}
