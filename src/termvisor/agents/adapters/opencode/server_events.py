"""Reduce events of an opencode server to those that change the state, in the format of our plugin. Pure.

In: events and lists, in order. Out: events for `signals`, without the user's text or file contents, and with the
outcome of each turn. Several sessions may be active in one process. If one is waiting, that takes precedence over the
work, or the end, of another.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.json_access import NS_PER_MS, JsonObject, get_object, get_str

# Our own events: no session is working; the connection was lost; nothing has changed.
IDLE_EVENT, CONNECTION_LOST_EVENT, HEARTBEAT_EVENT = "server.rests", "server.lost", "server.lives"
_MAX_KNOWN = 2000
# Low bits of the time in milliseconds that an event id contains.
_ID_TIME_BITS = 36
_MAX_CLOCK_SKEW_MS = 60_000
_WAITING_EVENTS = ("permission.asked", "question.asked")
_STATUS_EVENT, _SESSION_IDLE_EVENT, _ERROR_EVENT = "session.status", "session.idle", "session.error"
_ANSWER_EVENTS = ("permission.replied", "question.replied", "question.rejected")
ValueT = TypeVar("ValueT")


class OpencodeEvent(Struct, frozen=True):
    """One event in the format of the plugin."""

    event: str
    payload: JsonObject
    at: int = 0
    """Milliseconds since 1970 by opencode's clock; 0 if unknown."""

    @property
    def json_text(self) -> str:
        return msgspec.json.encode({"event": self.event, "at": self.at, "payload": self.payload}).decode()


class OpencodeServerState(Struct, frozen=True, kw_only=True):
    """The sessions and pending requests of a server, as its lists show them."""

    sessions: Sequence[JsonObject] = ()
    statuses: Mapping[str, JsonObject] = {}
    permissions: Sequence[JsonObject] = ()
    questions: Sequence[JsonObject] = ()

    @property
    def busy_statuses(self) -> dict[str, JsonObject]:
        return {session: status for session, status in self.statuses.items() if get_str(status, "type") != "idle"}


class OpencodeEventRelay:
    """State of one server: its sessions, pending requests and turn outcomes."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}
        """Titles by session, except those of sub-agents."""
        self.statuses: dict[str, JsonObject] = {}
        """Status of each working session."""
        self.permissions: dict[str, JsonObject] = {}
        """Pending permission requests by id, oldest first."""
        self.questions: dict[str, JsonObject] = {}
        self.latest_session = ""
        """The session of the last event."""
        self._parents: dict[str, str] = {}
        self._turn_outcomes: dict[str, dict[str, object]] = {}
        self._reported_sessions: dict[str, JsonObject] = {}
        self._summary_messages: dict[str, str] = {}
        self._ended_messages: dict[str, str] = {}
        """Completed messages, in a dict so that the oldest can be dropped."""
        self._is_first_report = True
        self._event_readers: dict[str, Callable[[JsonObject], JsonObject | None]] = {
            "session.created": self._read_session,
            "session.updated": self._read_session,
            "session.deleted": self._read_session_deleted,
            _STATUS_EVENT: self._read_status,
            _SESSION_IDLE_EVENT: self._read_idle,
            _ERROR_EVENT: self._read_error,
            "session.compacted": _read_session_id,
            "permission.asked": self._read_permission_request,
            "permission.replied": self._read_answer,
            "question.asked": self._read_question,
            "question.replied": self._read_answer,
            "question.rejected": partial(self._close_request, is_rejected=True),
            "message.updated": self._read_message,
            "server.instance.disposed": _read_session_id,
        }
        """Readers by event type. Other events do not contain the state."""

    @property
    def busy_sessions(self) -> list[str]:
        return [session for session in self.statuses if session not in self._parents]

    def process_event(self, event: JsonObject, now: int) -> list[OpencodeEvent]:
        """Return what an event changes. ``now`` is in nanoseconds."""
        kind, fields = get_str(event, "type"), get_object(event, "properties")
        read_event = self._event_readers.get(kind)
        payload = read_event(fields) if read_event is not None else None
        session = get_str(fields, "sessionID") or get_str(get_object(fields, "info"), "sessionID")
        if read_event is not None and session and session not in self._parents:
            self.latest_session = session
        if payload is None:
            return []
        at = parse_event_time(get_str(event, "id"), now // NS_PER_MS)
        other = self._find_stronger_event(kind, session)
        return [OpencodeEvent(kind, self._add_parent(payload, session), at) if other is None else replace(other, at=at)]

    def process_server_state(self, server_state: OpencodeServerState) -> list[OpencodeEvent]:
        """Replace the state with that in the lists and return it as one event, or a heartbeat if it is still idle."""
        is_news = self._is_first_report or bool(self.statuses or self.permissions or self.questions)
        self._is_first_report = False
        for info in server_state.sessions:
            self._update_session(info)
        for session in server_state.busy_statuses.keys() - self.statuses.keys():
            self._turn_outcomes.pop(session, None)
        self.statuses = server_state.busy_statuses
        self.permissions = {get_str(request, "id"): request for request in server_state.permissions}
        self.questions = {get_str(question, "id"): question for question in server_state.questions}
        return [self._build_process_event() or OpencodeEvent(IDLE_EVENT if is_news else HEARTBEAT_EVENT, {})]

    def process_connection_lost(self) -> list[OpencodeEvent]:
        """Return the event for a lost connection; none if nothing was reported before."""
        events = [] if self._is_first_report else [OpencodeEvent(CONNECTION_LOST_EVENT, {})]
        self._is_first_report = True
        for table in (self.statuses, self.permissions, self.questions):
            table.clear()
        return events

    def is_unreported_end(self, server_state: OpencodeServerState) -> bool:
        """Return True if the lists show an idle server although no event has reported the end of the work."""
        is_working = bool(self.statuses or self.permissions or self.questions)
        return is_working and not (server_state.busy_statuses or server_state.permissions or server_state.questions)

    def _find_stronger_event(self, kind: str, session: str) -> OpencodeEvent | None:
        """Return the event of another session that still determines the state after this one; None if there is none."""
        is_task = session in self._parents and kind in (_STATUS_EVENT, _SESSION_IDLE_EVENT)
        if is_task or kind not in (_STATUS_EVENT, _SESSION_IDLE_EVENT, _ERROR_EVENT, *_ANSWER_EVENTS):
            return None
        other = self._build_process_event(excluded_session=session)
        # While a session waits for an answer its status is still busy, so a wait is reported before any work.
        is_stronger = other is not None and (
            other.event in _WAITING_EVENTS or kind in (_SESSION_IDLE_EVENT, _ERROR_EVENT)
        )
        return other if is_stronger else None

    def _build_process_event(self, excluded_session: str = "") -> OpencodeEvent | None:
        """Return the state of the whole process, ignoring the work of one session; None if it is idle."""
        for kind, requests in zip(_WAITING_EVENTS, (self.permissions, self.questions), strict=True):
            for fields in requests.values():
                return OpencodeEvent(kind, self._add_parent(_strip_request(fields), get_str(fields, "sessionID")))
        for session in self.busy_sessions:
            if session != excluded_session:
                return OpencodeEvent(_STATUS_EVENT, {"sessionID": session, "status": self.statuses[session]})
        return None

    def _add_parent(self, fields: JsonObject, session: str) -> JsonObject:
        parent = self._parents.get(session)
        return {**fields, "parent": parent} if parent else fields

    def _update_session(self, info: JsonObject) -> None:
        session, parent = get_str(info, "id"), get_str(info, "parentID")
        if parent:
            _remember(self._parents, session, parent)
        elif session:
            _remember(self.titles, session, get_str(info, "title"))

    def _update_outcome(self, session: str, **changes: object) -> None:
        _remember(self._turn_outcomes, session, {**self._turn_outcomes.get(session, {}), **changes})

    def _read_session(self, fields: JsonObject) -> JsonObject | None:
        info = get_object(fields, "info")
        self._update_session(info)
        session, model = get_str(info, "id"), get_str(get_object(info, "model"), "id")
        details = {name: info.get(name) for name in ("title", "version", "cost", "tokens")}
        payload = {"sessionID": session, **details, "model": model}
        if self._reported_sessions.get(session) == payload:
            return None
        _remember(self._reported_sessions, session, payload)
        return payload

    def _read_session_deleted(self, fields: JsonObject) -> JsonObject | None:
        session = get_str(get_object(fields, "info"), "id")
        for table in (self.titles, self._parents, self.statuses, self._reported_sessions):
            table.pop(session, None)
        return None

    def _read_status(self, fields: JsonObject) -> JsonObject | None:
        session, status = get_str(fields, "sessionID"), get_object(fields, "status")
        last_status = self.statuses.get(session)
        # The event `session.idle` follows, and the end of the turn is reported there with its outcome.
        if get_str(status, "type") == "idle" or last_status == status:
            return None
        if last_status is None:
            _remember(self._turn_outcomes, session, {})
        _remember(self.statuses, session, status)
        return {"sessionID": session, "status": status}

    def _read_idle(self, fields: JsonObject) -> JsonObject | None:
        """Return the outcome of the ended turn.

        A turn without an answer was interrupted: opencode sends no error if that happens before the first output.
        """
        session = get_str(fields, "sessionID")
        last_status = self.statuses.pop(session, None)
        for requests in (self.permissions, self.questions):
            for request_id, request in list(requests.items()):
                if session in (get_str(request, "sessionID"), self._parents.get(get_str(request, "sessionID"))):
                    del requests[request_id]
        # opencode sends this event twice after an interrupt; only the first one ends the turn.
        if last_status is None:
            return None
        outcome = self._turn_outcomes.get(session, {})
        if get_str(last_status, "type") == "retry" or "answered" not in outcome:
            error = {"name": "MessageAbortedError", "message": get_str(last_status, "message")}
            outcome = {"error": error, **outcome}
        return {"sessionID": session, "turn": outcome}

    def _read_error(self, fields: JsonObject) -> JsonObject | None:
        session, data = get_str(fields, "sessionID"), get_object(fields, "error", "data")
        name = get_str(get_object(fields, "error"), "name")
        error = {"name": name, "message": get_str(data, "message"), "status": data.get("statusCode")}
        self._update_outcome(session, error=error)
        return {"sessionID": session, "error": error}

    def _read_permission_request(self, fields: JsonObject) -> JsonObject | None:
        _remember(self.permissions, get_str(fields, "id"), fields)
        return _strip_request(fields)

    def _read_question(self, fields: JsonObject) -> JsonObject | None:
        _remember(self.questions, get_str(fields, "id"), fields)
        return fields

    def _read_answer(self, fields: JsonObject) -> JsonObject | None:
        return self._close_request(fields, is_rejected=get_str(fields, "reply") == "reject")

    def _close_request(self, fields: JsonObject, *, is_rejected: bool) -> JsonObject:
        request, session = get_str(fields, "requestID"), get_str(fields, "sessionID")
        self.permissions.pop(request, None)
        self.questions.pop(request, None)
        self._update_outcome(session, rejected=is_rejected)
        return {"sessionID": session, "reply": get_str(fields, "reply")}

    def _read_message(self, fields: JsonObject) -> JsonObject | None:
        """Report only the start of a summary (a compaction), and record that the turn has an answer.

        An aborted message is no answer, and a message repeated in the next turn does not answer that turn.
        """
        info = get_object(fields, "info")
        message_id, session = get_str(info, "id"), get_str(info, "sessionID")
        is_assistant = get_str(info, "role") == "assistant"
        is_completed = is_assistant and "completed" in get_object(info, "time")
        if is_completed and session in self.statuses and message_id not in self._ended_messages:
            _remember(self._ended_messages, message_id, message_id)
            if not get_object(info, "error"):
                self._update_outcome(session, answered=True)
        if info.get("summary") is not True or not is_assistant or message_id in self._summary_messages:
            return None
        _remember(self._summary_messages, message_id, message_id)
        return {"sessionID": session, "compacting": True}


def parse_event_time(event_id: str, now_ms: int) -> int:
    """Return the time in an event id, in milliseconds; 0 if it has none within a minute of ``now_ms``."""
    digits = event_id.partition("_")[2][:9]
    try:
        low = int(digits, 16) if len(digits) == 9 else -1
    except ValueError:
        return 0
    # The id lacks the high bits of the time, so use those that bring it closest to now.
    span = 1 << _ID_TIME_BITS
    time = now_ms - now_ms % span + low
    nearest = min((time - span, time, time + span), key=lambda at: abs(now_ms - at))
    return nearest if low >= 0 and abs(now_ms - nearest) <= _MAX_CLOCK_SKEW_MS else 0


def _strip_request(fields: JsonObject) -> JsonObject:
    """Return a permission request without file contents."""
    if "questions" in fields:
        return fields
    metadata = get_object(fields, "metadata")
    kept_metadata = {name: get_str(metadata, name) for name in ("command", "filepath") if get_str(metadata, name)}
    kept_fields = {name: get_str(fields, name) for name in ("id", "sessionID", "permission")}
    return {**kept_fields, "metadata": kept_metadata}


def _remember(table: dict[str, ValueT], key: str, value: ValueT) -> None:
    """Store a value, dropping the oldest one if the limit is exceeded."""
    table[key] = value
    if len(table) > _MAX_KNOWN:
        del table[next(iter(table))]


def _read_session_id(fields: JsonObject) -> JsonObject | None:
    return {"sessionID": get_str(fields, "sessionID")}
