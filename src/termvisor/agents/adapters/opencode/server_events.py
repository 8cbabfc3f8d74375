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

from termvisor.agents.adapters.json_access import MILLISECOND, Json, inside, text

RESTS, LOST, LIVES = "server.rests", "server.lost", "server.lives"
"""Our own words: nobody is at work; nothing is heard any more; nothing has changed."""
_KNOWN_AT_MOST = 2000
_ID_TIME = 36
"""Bits of an event's id that tell the millisecond; the higher ones are cut off."""
_NEAR = 60_000
_WAITS = ("permission.asked", "question.asked")
_STATUS, _IDLE, _ERROR = "session.status", "session.idle", "session.error"
_ANSWERS = ("permission.replied", "question.replied", "question.rejected")
V = TypeVar("V")


class Word(Struct, frozen=True):
    event: str
    payload: Json
    at: int = 0
    """Milliseconds since 1970, by opencode's own clock; 0 where it told none."""

    @property
    def text(self) -> str:
        return msgspec.json.encode({"event": self.event, "at": self.at, "payload": self.payload}).decode()


class Lists(Struct, frozen=True, kw_only=True):
    """What the server answers when it is asked."""

    sessions: Sequence[Json] = ()
    statuses: Mapping[str, Json] = {}
    permissions: Sequence[Json] = ()
    questions: Sequence[Json] = ()

    @property
    def at_work(self) -> dict[str, Json]:
        return {session: status for session, status in self.statuses.items() if text(status, "type") != "idle"}


class Relay:
    def __init__(self) -> None:
        self.titles: dict[str, str] = {}
        """Of sessions that are no sub-agents'."""
        self.statuses: dict[str, Json] = {}
        """Of those that are at work."""
        self.permissions: dict[str, Json] = {}
        """What waits for leave, the oldest first, whole as it was asked."""
        self.questions: dict[str, Json] = {}
        self.latest = ""
        """The session that last said anything."""
        self._parents: dict[str, str] = {}
        self._turns: dict[str, dict[str, object]] = {}
        self._told: dict[str, Json] = {}
        self._summaries: dict[str, str] = {}
        self._answers: dict[str, str] = {}
        """Messages that have ended."""
        self._is_fresh = True
        self._meanings: dict[str, Callable[[Json], Json | None]] = {
            "session.created": self._session,
            "session.updated": self._session,
            "session.deleted": self._deleted,
            _STATUS: self._status,
            _IDLE: self._idle,
            _ERROR: self._error,
            "session.compacted": _named,
            "permission.asked": self._permission,
            "permission.replied": self._answered,
            "question.asked": self._question,
            "question.replied": self._answered,
            "question.rejected": self._dismissed,
            "message.updated": self._message,
            "server.instance.disposed": _named,
        }
        """What is not here says nothing about what the agent is doing."""

    @property
    def at_work(self) -> list[str]:
        return [one for one in self.statuses if one not in self._parents]

    def take(self, event: Json, now: int) -> list[Word]:
        """``now`` in nanoseconds."""
        kind, told = text(event, "type"), inside(event, "properties")
        meaning = self._meanings.get(kind)
        said = meaning(told) if meaning is not None else None
        session = text(told, "sessionID") or text(inside(told, "info"), "sessionID")
        if meaning is not None and session and session not in self._parents:
            self.latest = session
        if said is None:
            return []
        at = told_at(text(event, "id"), now // MILLISECOND)
        other = self._instead(kind, session)
        return [Word(kind, self._framed(said, session), at) if other is None else replace(other, at=at)]

    def listed(self, lists: Lists) -> list[Word]:
        """All anew: what is true now, or that nobody is at work, or that this is so as it was before."""
        is_news = self._is_fresh or bool(self.statuses or self.permissions or self.questions)
        self._is_fresh = False
        for info in lists.sessions:
            self._learn(info)
        for session in lists.at_work.keys() - self.statuses.keys():
            self._turns.pop(session, None)
        self.statuses = lists.at_work
        self.permissions = {text(one, "id"): one for one in lists.permissions}
        self.questions = {text(one, "id"): one for one in lists.questions}
        return [self._standing() or Word(RESTS if is_news else LIVES, {})]

    def lost(self) -> list[Word]:
        """Nothing is heard any more; nothing was told yet where nothing was heard before."""
        told = [] if self._is_fresh else [Word(LOST, {})]
        self._is_fresh = True
        for known in (self.statuses, self.permissions, self.questions):
            known.clear()
        return told

    def would_end(self, lists: Lists) -> bool:
        """Whether these lists tell of a rest of which no event told yet."""
        is_at_work = bool(self.statuses or self.permissions or self.questions)
        return is_at_work and not (lists.at_work or lists.permissions or lists.questions)

    def _instead(self, kind: str, session: str) -> Word | None:
        """What is true of the process all the same, when one of its sessions goes on, or ends."""
        is_task = session in self._parents and kind in (_STATUS, _IDLE)
        if is_task or kind not in (_STATUS, _IDLE, _ERROR, *_ANSWERS):
            return None
        found = self._standing(apart=session)
        is_stronger = found is not None and (found.event in _WAITS or kind in (_IDLE, _ERROR))
        return found if is_stronger else None

    def _standing(self, apart: str = "") -> Word | None:
        """What is true of the whole process, where it does not rest; the work of one session may be left out."""
        for kind, waiting in zip(_WAITS, (self.permissions, self.questions), strict=True):
            for told in waiting.values():
                return Word(kind, self._framed(_asked(told), text(told, "sessionID")))
        for session in self.at_work:
            if session != apart:
                return Word(_STATUS, {"sessionID": session, "status": self.statuses[session]})
        return None

    def _framed(self, told: Json, session: str) -> Json:
        parent = self._parents.get(session)
        return {**told, "parent": parent} if parent else told

    def _learn(self, info: Json) -> None:
        session, parent = text(info, "id"), text(info, "parentID")
        if parent:
            _keep(self._parents, session, parent)
        elif session:
            _keep(self.titles, session, text(info, "title"))

    def _session(self, told: Json) -> Json | None:
        info = inside(told, "info")
        self._learn(info)
        about = {name: info.get(name) for name in ("title", "version", "cost", "tokens")}
        said = {"sessionID": text(info, "id"), **about, "model": text(inside(info, "model"), "id")}
        if self._told.get(text(info, "id")) == said:
            return None
        _keep(self._told, text(info, "id"), said)
        return said

    def _deleted(self, told: Json) -> Json | None:
        session = text(inside(told, "info"), "id")
        for known in (self.titles, self._parents, self.statuses, self._told):
            known.pop(session, None)
        return None

    def _status(self, told: Json) -> Json | None:
        session, status = text(told, "sessionID"), inside(told, "status")
        known = self.statuses.get(session)
        if text(status, "type") == "idle" or known == status:
            return None
        if known is None:
            _keep(self._turns, session, {})
        _keep(self.statuses, session, status)
        return {"sessionID": session, "status": status}

    def _idle(self, told: Json) -> Json | None:
        """A turn without an answer was stopped, also where no error says so: that is so before its first word."""
        session = text(told, "sessionID")
        last = self.statuses.pop(session, None)
        for waiting in (self.permissions, self.questions):
            for name in [name for name, one in waiting.items() if self._is_of(text(one, "sessionID"), session)]:
                del waiting[name]
        if last is None:
            return None
        turn = self._turns.get(session, {})
        is_broken = text(last, "type") == "retry" or "answered" not in turn
        broken = {"error": {"name": "MessageAbortedError", "message": text(last, "message")}} if is_broken else {}
        return {"sessionID": session, "turn": {**broken, **turn}}

    def _error(self, told: Json) -> Json | None:
        session, data = text(told, "sessionID"), inside(told, "error", "data")
        name = text(inside(told, "error"), "name")
        error = {"name": name, "message": text(data, "message"), "status": data.get("statusCode")}
        _keep(self._turns, session, {**self._turns.get(session, {}), "error": error})
        return {"sessionID": session, "error": error}

    def _permission(self, told: Json) -> Json | None:
        _keep(self.permissions, text(told, "id"), told)
        return _asked(told)

    def _question(self, told: Json) -> Json | None:
        _keep(self.questions, text(told, "id"), told)
        return told

    def _answered(self, told: Json) -> Json | None:
        return self._over(told, is_no=text(told, "reply") == "reject")

    def _dismissed(self, told: Json) -> Json | None:
        return self._over(told, is_no=True)

    def _over(self, told: Json, *, is_no: bool) -> Json:
        request, session = text(told, "requestID"), text(told, "sessionID")
        self.permissions.pop(request, None)
        self.questions.pop(request, None)
        _keep(self._turns, session, {**self._turns.get(session, {}), "rejected": is_no})
        return {"sessionID": session, "reply": text(told, "reply")}

    def _is_of(self, session: str, root: str) -> bool:
        return root in (session, self._parents.get(session))

    def _message(self, told: Json) -> Json | None:
        """Only that a summary begins is told: the rest is what was said. That a turn has its answer is remembered: one
        that was broken off is none, and one that is told again in the next turn is not that one's."""
        info = inside(told, "info")
        name, session = text(info, "id"), text(info, "sessionID")
        has_ended = text(info, "role") == "assistant" and "completed" in inside(info, "time")
        if has_ended and session in self.statuses and name not in self._answers:
            _keep(self._answers, name, name)
            if not inside(info, "error"):
                _keep(self._turns, session, {**self._turns.get(session, {}), "answered": True})
        if info.get("summary") is not True or text(info, "role") != "assistant" or name in self._summaries:
            return None
        _keep(self._summaries, name, name)
        return {"sessionID": session, "compacting": True}


def told_at(name: str, now: int) -> int:
    """The millisecond that an event's id tells; 0 where it tells none near ``now``."""
    digits = name.partition("_")[2][:9]
    try:
        low = int(digits, 16) if len(digits) == 9 else -1
    except ValueError:
        return 0
    span = 1 << _ID_TIME
    found = now - now % span + low
    nearest = min((found - span, found, found + span), key=lambda at: abs(now - at))
    return nearest if low >= 0 and abs(now - nearest) <= _NEAR else 0


def _asked(told: Json) -> Json:
    """Without what a file holds."""
    if "questions" in told:
        return told
    about = inside(told, "metadata")
    known = {name: text(about, name) for name in ("command", "filepath") if text(about, name)}
    named = {name: text(told, name) for name in ("id", "sessionID", "permission")}
    return {**named, "metadata": known}


def _keep(known: dict[str, V], name: str, value: V) -> None:
    """The oldest goes where there are too many."""
    known[name] = value
    if len(known) > _KNOWN_AT_MOST:
        del known[next(iter(known))]


def _named(told: Json) -> Json | None:
    return {"sessionID": text(told, "sessionID")}
