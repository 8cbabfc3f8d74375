"""What opencode's server says, as its plugin would tell it: the events that mean something, with how each turn went.

In: events and lists, in order. Out: words for `signals`, nothing of which is what a person wrote or a file holds.
Several sessions may be at work in one process: what one of them waits for counts before the work, or the end, of
another. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.json_access import NS_PER_MS, JsonObject, get_object, get_str

IDLE_EVENT, CONNECTION_LOST_EVENT, HEARTBEAT_EVENT = "server.rests", "server.lost", "server.lives"
"""Our own words: nobody is at work; nothing is heard any more; nothing has changed."""
_MAX_KNOWN = 2000
_ID_TIME_BITS = 36
"""Bits of an event's id that tell the millisecond; the higher ones are cut off."""
_MAX_CLOCK_SKEW_MS = 60_000
_WAITING_EVENTS = ("permission.asked", "question.asked")
_STATUS_EVENT, _SESSION_IDLE_EVENT, _ERROR_EVENT = "session.status", "session.idle", "session.error"
_ANSWER_EVENTS = ("permission.replied", "question.replied", "question.rejected")
ValueT = TypeVar("ValueT")


class OpencodeEvent(Struct, frozen=True):
    event: str
    payload: JsonObject
    at: int = 0
    """Milliseconds since 1970, by opencode's own clock; 0 where it told none."""

    @property
    def json_text(self) -> str:
        return msgspec.json.encode({"event": self.event, "at": self.at, "payload": self.payload}).decode()


class OpencodeServerState(Struct, frozen=True, kw_only=True):
    """What the server answers when it is asked."""

    sessions: Sequence[JsonObject] = ()
    statuses: Mapping[str, JsonObject] = {}
    permissions: Sequence[JsonObject] = ()
    questions: Sequence[JsonObject] = ()

    @property
    def busy_statuses(self) -> dict[str, JsonObject]:
        return {session: status for session, status in self.statuses.items() if get_str(status, "type") != "idle"}


class OpencodeEventRelay:
    def __init__(self) -> None:
        self.titles: dict[str, str] = {}
        """Of sessions that are no sub-agents'."""
        self.statuses: dict[str, JsonObject] = {}
        """Of those that are at work."""
        self.permissions: dict[str, JsonObject] = {}
        """What waits for leave, the oldest first, whole as it was asked."""
        self.questions: dict[str, JsonObject] = {}
        self.latest_session = ""
        """The session that last said anything."""
        self._parents: dict[str, str] = {}
        self._turn_outcomes: dict[str, dict[str, object]] = {}
        self._reported_sessions: dict[str, JsonObject] = {}
        self._summary_messages: dict[str, str] = {}
        self._ended_messages: dict[str, str] = {}
        """Messages that have ended."""
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
            "question.rejected": self._read_question_rejected,
            "message.updated": self._read_message,
            "server.instance.disposed": _read_session_id,
        }
        """What is not here says nothing about what the agent is doing."""

    @property
    def busy_sessions(self) -> list[str]:
        return [one for one in self.statuses if one not in self._parents]

    def process_event(self, event: JsonObject, now: int) -> list[OpencodeEvent]:
        """``now`` in nanoseconds."""
        kind, told = get_str(event, "type"), get_object(event, "properties")
        meaning = self._event_readers.get(kind)
        said = meaning(told) if meaning is not None else None
        session = get_str(told, "sessionID") or get_str(get_object(told, "info"), "sessionID")
        if meaning is not None and session and session not in self._parents:
            self.latest_session = session
        if said is None:
            return []
        at = parse_event_time(get_str(event, "id"), now // NS_PER_MS)
        other = self._find_stronger_event(kind, session)
        return [OpencodeEvent(kind, self._add_parent(said, session), at) if other is None else replace(other, at=at)]

    def process_server_state(self, server_state: OpencodeServerState) -> list[OpencodeEvent]:
        """All anew: what is true now, or that nobody is at work, or that this is so as it was before."""
        is_news = self._is_first_report or bool(self.statuses or self.permissions or self.questions)
        self._is_first_report = False
        for info in server_state.sessions:
            self._update_session(info)
        for session in server_state.busy_statuses.keys() - self.statuses.keys():
            self._turn_outcomes.pop(session, None)
        self.statuses = server_state.busy_statuses
        self.permissions = {get_str(one, "id"): one for one in server_state.permissions}
        self.questions = {get_str(one, "id"): one for one in server_state.questions}
        return [self._build_process_event() or OpencodeEvent(IDLE_EVENT if is_news else HEARTBEAT_EVENT, {})]

    def process_connection_lost(self) -> list[OpencodeEvent]:
        """Nothing is heard any more; nothing was told yet where nothing was heard before."""
        told = [] if self._is_first_report else [OpencodeEvent(CONNECTION_LOST_EVENT, {})]
        self._is_first_report = True
        for known in (self.statuses, self.permissions, self.questions):
            known.clear()
        return told

    def is_unreported_end(self, server_state: OpencodeServerState) -> bool:
        """Whether these lists tell of a rest of which no event told yet."""
        is_at_work = bool(self.statuses or self.permissions or self.questions)
        return is_at_work and not (server_state.busy_statuses or server_state.permissions or server_state.questions)

    def _find_stronger_event(self, kind: str, session: str) -> OpencodeEvent | None:
        """What is true of the process all the same, when one of its sessions goes on, or ends."""
        is_task = session in self._parents and kind in (_STATUS_EVENT, _SESSION_IDLE_EVENT)
        if is_task or kind not in (_STATUS_EVENT, _SESSION_IDLE_EVENT, _ERROR_EVENT, *_ANSWER_EVENTS):
            return None
        found = self._build_process_event(excluded_session=session)
        is_stronger = found is not None and (
            found.event in _WAITING_EVENTS or kind in (_SESSION_IDLE_EVENT, _ERROR_EVENT)
        )
        return found if is_stronger else None

    def _build_process_event(self, excluded_session: str = "") -> OpencodeEvent | None:
        """What is true of the whole process, where it does not rest; the work of one session may be left out."""
        for kind, waiting in zip(_WAITING_EVENTS, (self.permissions, self.questions), strict=True):
            for told in waiting.values():
                return OpencodeEvent(kind, self._add_parent(_strip_request(told), get_str(told, "sessionID")))
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

    def _read_session(self, fields: JsonObject) -> JsonObject | None:
        info = get_object(fields, "info")
        self._update_session(info)
        about = {name: info.get(name) for name in ("title", "version", "cost", "tokens")}
        said = {"sessionID": get_str(info, "id"), **about, "model": get_str(get_object(info, "model"), "id")}
        if self._reported_sessions.get(get_str(info, "id")) == said:
            return None
        _remember(self._reported_sessions, get_str(info, "id"), said)
        return said

    def _read_session_deleted(self, fields: JsonObject) -> JsonObject | None:
        session = get_str(get_object(fields, "info"), "id")
        for known in (self.titles, self._parents, self.statuses, self._reported_sessions):
            known.pop(session, None)
        return None

    def _read_status(self, fields: JsonObject) -> JsonObject | None:
        session, status = get_str(fields, "sessionID"), get_object(fields, "status")
        known = self.statuses.get(session)
        if get_str(status, "type") == "idle" or known == status:
            return None
        if known is None:
            _remember(self._turn_outcomes, session, {})
        _remember(self.statuses, session, status)
        return {"sessionID": session, "status": status}

    def _read_idle(self, fields: JsonObject) -> JsonObject | None:
        """A turn without an answer was stopped, also where no error says so: that is so before its first word."""
        session = get_str(fields, "sessionID")
        last = self.statuses.pop(session, None)
        for waiting in (self.permissions, self.questions):
            for name in [
                name for name, one in waiting.items() if self._is_in_session(get_str(one, "sessionID"), session)
            ]:
                del waiting[name]
        if last is None:
            return None
        turn = self._turn_outcomes.get(session, {})
        is_broken = get_str(last, "type") == "retry" or "answered" not in turn
        broken = {"error": {"name": "MessageAbortedError", "message": get_str(last, "message")}} if is_broken else {}
        return {"sessionID": session, "turn": {**broken, **turn}}

    def _read_error(self, fields: JsonObject) -> JsonObject | None:
        session, data = get_str(fields, "sessionID"), get_object(fields, "error", "data")
        name = get_str(get_object(fields, "error"), "name")
        error = {"name": name, "message": get_str(data, "message"), "status": data.get("statusCode")}
        _remember(self._turn_outcomes, session, {**self._turn_outcomes.get(session, {}), "error": error})
        return {"sessionID": session, "error": error}

    def _read_permission_request(self, fields: JsonObject) -> JsonObject | None:
        _remember(self.permissions, get_str(fields, "id"), fields)
        return _strip_request(fields)

    def _read_question(self, fields: JsonObject) -> JsonObject | None:
        _remember(self.questions, get_str(fields, "id"), fields)
        return fields

    def _read_answer(self, fields: JsonObject) -> JsonObject | None:
        return self._close_request(fields, is_rejected=get_str(fields, "reply") == "reject")

    def _read_question_rejected(self, fields: JsonObject) -> JsonObject | None:
        return self._close_request(fields, is_rejected=True)

    def _close_request(self, fields: JsonObject, *, is_rejected: bool) -> JsonObject:
        request, session = get_str(fields, "requestID"), get_str(fields, "sessionID")
        self.permissions.pop(request, None)
        self.questions.pop(request, None)
        _remember(self._turn_outcomes, session, {**self._turn_outcomes.get(session, {}), "rejected": is_rejected})
        return {"sessionID": session, "reply": get_str(fields, "reply")}

    def _is_in_session(self, session: str, root: str) -> bool:
        return root in (session, self._parents.get(session))

    def _read_message(self, fields: JsonObject) -> JsonObject | None:
        """Only that a summary begins is told: the rest is what was said. That a turn has its answer is remembered: one
        that was broken off is none, and one that is told again in the next turn is not that one's."""
        info = get_object(fields, "info")
        name, session = get_str(info, "id"), get_str(info, "sessionID")
        has_ended = get_str(info, "role") == "assistant" and "completed" in get_object(info, "time")
        if has_ended and session in self.statuses and name not in self._ended_messages:
            _remember(self._ended_messages, name, name)
            if not get_object(info, "error"):
                _remember(self._turn_outcomes, session, {**self._turn_outcomes.get(session, {}), "answered": True})
        if info.get("summary") is not True or get_str(info, "role") != "assistant" or name in self._summary_messages:
            return None
        _remember(self._summary_messages, name, name)
        return {"sessionID": session, "compacting": True}


def parse_event_time(event_id: str, now_ms: int) -> int:
    """The millisecond that an event's id tells; 0 where it tells none near ``now``."""
    digits = event_id.partition("_")[2][:9]
    try:
        low = int(digits, 16) if len(digits) == 9 else -1
    except ValueError:
        return 0
    span = 1 << _ID_TIME_BITS
    found = now_ms - now_ms % span + low
    nearest = min((found - span, found, found + span), key=lambda at: abs(now_ms - at))
    return nearest if low >= 0 and abs(now_ms - nearest) <= _MAX_CLOCK_SKEW_MS else 0


def _strip_request(fields: JsonObject) -> JsonObject:
    """Without what a file holds."""
    if "questions" in fields:
        return fields
    about = get_object(fields, "metadata")
    known = {name: get_str(about, name) for name in ("command", "filepath") if get_str(about, name)}
    named = {name: get_str(fields, name) for name in ("id", "sessionID", "permission")}
    return {**named, "metadata": known}


def _remember(known: dict[str, ValueT], name: str, value: ValueT) -> None:
    """The oldest goes where there are too many."""
    known[name] = value
    if len(known) > _MAX_KNOWN:
        del known[next(iter(known))]


def _read_session_id(fields: JsonObject) -> JsonObject | None:
    return {"sessionID": get_str(fields, "sessionID")}
