"""What the app-server says: changes that it tells everybody, answers to our questions, and what subscribers hear.

A message about a thread carries the thread's id; whose pane that is was found before (see `threads`). Threads that
Codex starts by itself to find a title never come here.
"""

from collections.abc import Callable

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.codex import error_codes as error_names
from termvisor.agents.adapters.codex.usage import counted, window_figures, window_flags
from termvisor.agents.adapters.json_access import Json, inside, moment, number, parsed, text
from termvisor.agents.adapters.statements import Said, framed, not_understood, payload
from termvisor.model.agent.signal import FlagsTold
from termvisor.model.agent.state import StateName

LOST = "connection/lost"
"""Our own word: the server cannot be heard any more."""
LISTED, TURN_LISTED = "thread/list", "thread/turns/list"
"""One thread, or the last turn of one, out of the answer to a question of that name."""

_TYPES: dict[str, StateName] = {"idle": "idle", "active": "running", "systemError": "error"}
_WAITS: dict[str, StateName] = {"waitingOnApproval": "waiting_approval", "waitingOnUserInput": "waiting_input"}
_ENDS: dict[str, StateName] = {"completed": "completed", "interrupted": "idle", "inProgress": "running"}
_COMPACTION = "contextCompaction"


def read(record: Record) -> list[Said]:
    message = parsed(record.text)
    if message is None:
        return [not_understood(record.text)]
    params = inside(message, "params")
    read_one = _READERS.get(text(message, "method"))
    said = read_one(params, record.at) if read_one is not None else None
    if said is None:
        return []
    at = min(moment(message.get("emittedAtMs")), record.at)
    return framed([said], session=_session(params), at=at)


def state_of(status: Json) -> StateName | None:
    """`unknown` for a status that we do not know; None for a thread that is not loaded."""
    kind = text(status, "type")
    if kind == "notLoaded":
        return None
    flags = status.get("activeFlags")
    waits = [_WAITS[flag] for flag in flags if flag in _WAITS] if isinstance(flags, list) else []
    return waits[0] if waits and kind == "active" else _TYPES.get(kind, "unknown")


def _session(params: Json) -> str:
    """The thread; of a sub-agent that of the one who started it."""
    return text(params, "parentThreadId") or text(params, "threadId") or text(inside(params, "thread"), "id")


def _changed(params: Json, now: int) -> Said | None:
    return _status(params, inside(params, "status"))


def _thread(params: Json, now: int) -> Said | None:
    thread = inside(params, "thread")
    said = _status(params, inside(thread, "status"))
    if said is None or said.task:
        return said
    told = payload(model=text(thread, "model"), version=text(thread, "cliVersion"), transcript=text(thread, "path"))
    return Said(state=said.state, reason=said.reason, title=text(thread, "name") or None, payload=told)


def _status(params: Json, status: Json) -> Said | None:
    state = state_of(status)
    child = text(params, "childThreadId")
    if child and state not in _WAITS.values():
        return Said(kind="task_began" if state == "running" else "task_ended", task=child)
    if state is None:
        return None
    return Said(state=state, reason="unsupported_signal" if state == "unknown" else None)


def _turn(params: Json, now: int) -> Said | None:
    turn = inside(params, "turn")
    if text(turn, "status") == "failed":
        return _failed(inside(turn, "error"), now)
    state = _ENDS.get(text(turn, "status"))
    return Said(state=state, payload=payload(last_message=_last_words(turn))) if state is not None else None


def _last_words(turn: Json) -> str:
    items = turn.get("items")
    spoken = [item for item in items if text(item, "type") == "agentMessage"] if isinstance(items, list) else []
    return text(spoken[-1], "text") if spoken else ""


def _failed(error: Json, now: int) -> Said:
    words = text(error, "message")
    kind = error_names.kind_of(error.get("codexErrorInfo"))
    return Said(state="error", flags=error_names.flags_of(kind, words, now), payload=payload(error=kind, message=words))


def _error(params: Json, now: int) -> Said:
    """One that it will try again is no error yet."""
    failed = _failed(inside(params, "error"), now)
    return Said(state="running", payload=failed.payload) if params.get("willRetry") is True else failed


def _item_began(params: Json, now: int) -> Said | None:
    item = inside(params, "item")
    if text(item, "type") == _COMPACTION:
        return Said(state="running", flags=FlagsTold(compacting=True))
    command = text(item, "command")
    return Said(kind="note", payload=payload(tool=text(item, "type"), command=command)) if command else None


def _item_ended(params: Json, now: int) -> Said | None:
    return _compacted(params, now) if text(inside(params, "item"), "type") == _COMPACTION else None


def _compacted(params: Json, now: int) -> Said:
    return Said(kind="note", flags=FlagsTold(compacting=False))


def _approval(params: Json, now: int) -> Said:
    command = text(params, "command")
    return Said(state="waiting_approval", payload=payload(command=command, question=text(params, "reason")))


def _question(params: Json, now: int) -> Said:
    questions = params.get("questions")
    first = questions[0] if isinstance(questions, list) and questions and isinstance(questions[0], dict) else params
    return Said(state="waiting_input", payload=payload(question=text(first, "question") or text(first, "message")))


def _tokens(params: Json, now: int) -> Said:
    usage = inside(params, "tokenUsage")
    window = number(usage, "modelContextWindow")
    return Said(kind="note", payload=counted(inside(usage, "total"), inside(usage, "last"), window))


def _limits(params: Json, now: int) -> Said:
    limits = params.get("rateLimits")
    return Said(kind="note", flags=window_flags(limits), payload=window_figures(limits))


def _named(params: Json, now: int) -> Said:
    return Said(kind="note", title=text(params, "threadName"))


def _lost(params: Json, now: int) -> Said:
    return Said(kind="source_down")


_READERS: dict[str, Callable[[Json, int], Said | None]] = {
    "thread/status/changed": _changed,
    "thread/started": _thread,
    LISTED: _thread,
    TURN_LISTED: _turn,
    "turn/started": _turn,
    "turn/completed": _turn,
    "error": _error,
    "item/started": _item_began,
    "item/completed": _item_ended,
    "thread/compacted": _compacted,
    "thread/tokenUsage/updated": _tokens,
    "account/rateLimits/updated": _limits,
    "thread/name/updated": _named,
    "item/commandExecution/requestApproval": _approval,
    "item/fileChange/requestApproval": _approval,
    "item/permissions/requestApproval": _approval,
    "applyPatchApproval": _approval,
    "execCommandApproval": _approval,
    "item/tool/requestUserInput": _question,
    "mcpServer/elicitation/request": _question,
    LOST: _lost,
}
"""What is not here says nothing about what the agent is doing."""
