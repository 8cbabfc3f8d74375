"""What the app-server says, handed on as records with the process that each thread was proven to belong to.

In: messages and answers, in order, with the Codex processes that live. Out: records; of a thread whose process is not
proven, none. What did not change is not told again, except now and then, for old words are not believed.
"""

from collections.abc import Sequence

import msgspec

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.codex import server_messages as server
from termvisor.agents.adapters.codex.threads import Threads
from termvisor.agents.adapters.json_access import Json, inside, text
from termvisor.agents.adapters.server_contract import Face
from termvisor.model.agent.signal import Hint

SOURCE = "app_server"
AGAIN = 60 * 10**9
"""Nanoseconds after which a status that stays the same is told once more."""
_STARTED, _CHANGED = "thread/started", "thread/status/changed"
_ENDS = {"idle": "completed", "systemError": "failed"}
_CHATTER = frozenset(
    {"item/agentMessage/delta", "item/commandExecution/outputDelta", "item/reasoning/textDelta", "hook/started"}
)
_TOLD_OF_THREADS = ("id", "cwd", "status", "path", "name", "model", "cliVersion", "originator", "parentThreadId")
"""The rest is long, or what a person wrote."""


class Relay:
    def __init__(self) -> None:
        self.threads = Threads()
        self.requests: dict[int | str, Json] = {}
        """What the server asks and nobody has answered yet, by the number of the request."""
        self.is_puzzled = False
        """It heard of a thread that it does not know: a list would tell."""
        self.ended: tuple[str, str] | None = None
        """The thread whose turn ended with the last message, and how, should the server be asked for that turn."""
        self._told: dict[str, tuple[object, int]] = {}
        """The status of each thread as it was last told, and when."""

    def take(self, message: Json, faces: Sequence[Face], at: int) -> list[Record]:
        """What was said unasked."""
        self.ended = None
        method, params = text(message, "method"), inside(message, "params")
        if method in _CHATTER:
            return []
        if method == "account/rateLimits/updated":
            return [_record(message, hint, at) for hint in self._everybody(faces)]
        thread = self._note(method, message, faces)
        parent, hint = self.threads.parent_of(thread), self.threads.hint_of(thread, faces)
        if hint is None or (parent and method not in (_CHANGED, _STARTED)):
            return []
        told = [_record(_as_task(message, parent, thread) if parent else message, hint, at)]
        if method == _CHANGED:
            told += self._parent_again(thread, parent, hint, at)
            self.ended = None if parent else self._end(thread, inside(params, "status"))
            self._told[thread] = (params.get("status"), at)
        elif method == _STARTED:
            self._told[thread] = (inside(params, "thread").get("status"), at)
        return told

    def listed(self, thread: Json, faces: Sequence[Face], at: int) -> list[Record]:
        """A thread out of a list."""
        known = self.threads.learn(thread)
        status = thread.get("status")
        self.threads.turned(known.id, faces, is_active=text(inside(thread, "status"), "type") == "active")
        hint = self.threads.hint_of(known.id, faces)
        was, told_at = self._told.get(known.id, (None, 0))
        if hint is None or (was == status and abs(at - told_at) < AGAIN):
            return []
        self._told[known.id] = (status, at)
        message = {"method": server.LISTED, "params": {"threadId": known.id, "thread": thread}}
        parent = self.threads.parent_of(known.id)
        return [_record(_as_task(message, parent, known.id) if parent else message, hint, at)]

    def turn(self, thread: str, turn: Json, faces: Sequence[Face], at: int) -> list[Record]:
        """How the last turn of a thread ended, out of an answer."""
        hint = self.threads.hint_of(thread, faces)
        message = {"method": server.TURN_LISTED, "params": {"threadId": thread, "turn": turn}}
        return [] if hint is None or not turn else [_record(message, hint, at)]

    def lost(self, faces: Sequence[Face], at: int) -> list[Record]:
        """The server cannot be heard any more. What it asked is asked anew by whoever comes next."""
        told = [_record({"method": server.LOST}, hint, at) for hint in self._everybody(faces)]
        self.requests.clear()
        self._told.clear()
        return told

    def _note(self, method: str, message: Json, faces: Sequence[Face]) -> str:
        """Learns from a message; the thread that it is about."""
        params = inside(message, "params")
        thread = text(params, "threadId")
        if method == _STARTED:
            thread = self.threads.learn(inside(params, "thread")).id
            self.threads.began(thread, faces)
        elif method == _CHANGED:
            self.is_puzzled = self.is_puzzled or not self.threads.knows(thread)
            is_active = text(inside(params, "status"), "type") == "active"
            self.threads.turned(thread, faces, is_active=is_active)
        elif method in ("thread/closed", "thread/deleted"):
            self.threads.forget(thread)
        self._note_request(method, message)
        return thread

    def _note_request(self, method: str, message: Json) -> None:
        number, resolved = message.get("id"), inside(message, "params").get("requestId")
        if isinstance(number, int | str):
            self.requests[number] = message
        elif method == "serverRequest/resolved" and isinstance(resolved, int | str):
            self.requests.pop(resolved, None)

    def _end(self, thread: str, status: Json) -> tuple[str, str] | None:
        """Of a thread that was at work: one that is taken up again says that it rests, too."""
        was, _ = self._told.get(thread, (None, 0))
        end = _ENDS.get(text(status, "type"))
        is_end = end is not None and isinstance(was, dict) and was.get("type") == "active"
        return (thread, end) if is_end and end is not None else None

    def _parent_again(self, thread: str, parent: str, hint: Hint, at: int) -> list[Record]:
        """A sub-agent that waits makes its parent wait; when it goes on, the parent's own status counts again."""
        was, _ = self._told.get(thread, (None, 0))
        status, _ = self._told.get(parent, (None, 0))
        if not isinstance(was, dict) or not was.get("activeFlags") or status is None:
            return []
        return [_record({"method": _CHANGED, "params": {"threadId": parent, "status": status}}, hint, at)]

    def _everybody(self, faces: Sequence[Face]) -> list[Hint]:
        """All whose threads were told."""
        hints = {hint for thread in self._told if (hint := self.threads.hint_of(thread, faces)) and hint.pid}
        return sorted(hints, key=lambda hint: hint.pid)


def _as_task(message: Json, parent: str, thread: str) -> Json:
    """A sub-agent's thread is told as a task of the thread that started it."""
    return {**message, "params": {**inside(message, "params"), "parentThreadId": parent, "childThreadId": thread}}


def _record(message: Json, hint: Hint, at: int) -> Record:
    params = inside(message, "params")
    if thread := inside(params, "thread"):
        brief = {name: value for name, value in thread.items() if name in _TOLD_OF_THREADS}
        message = {**message, "params": {**params, "thread": brief}}
    return Record(source=SOURCE, text=msgspec.json.encode(message).decode(), at=at, hint=hint)
