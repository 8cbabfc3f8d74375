"""What the app-server says, handed on as records with the process that each thread was proven to belong to.

In: messages and answers, in order, with the Codex processes that live. Out: records; of a thread whose process is not
proven, none. What did not change is not told again, except now and then, for old words are not believed.
"""

from collections.abc import Sequence

import msgspec

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.codex import server_messages
from termvisor.agents.adapters.codex.threads import ThreadRegistry
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.server_contract import ServedAgent
from termvisor.model.agent.signal import ProcessHint

SOURCE_NAME = "app_server"
STATUS_REPEAT_NS = 60 * 10**9
"""Nanoseconds after which a status that stays the same is told once more."""
_THREAD_STARTED, _STATUS_CHANGED = "thread/started", "thread/status/changed"
_TURN_ENDS_BY_STATUS = {"idle": "completed", "systemError": "failed"}
_IGNORED_METHODS = frozenset(
    {"item/agentMessage/delta", "item/commandExecution/outputDelta", "item/reasoning/textDelta", "hook/started"}
)
_KEPT_THREAD_FIELDS = ("id", "cwd", "status", "path", "name", "model", "cliVersion", "originator", "parentThreadId")
"""The rest is long, or what a person wrote."""


class CodexEventRelay:
    def __init__(self) -> None:
        self.threads = ThreadRegistry()
        self.pending_requests: dict[int | str, JsonObject] = {}
        """What the server asks and nobody has answered yet, by the number of the request."""
        self.needs_thread_list = False
        """It heard of a thread that it does not know: a list would tell."""
        self.ended_turn: tuple[str, str] | None = None
        """The thread whose turn ended with the last message, and how, should the server be asked for that turn."""
        self._reported_statuses: dict[str, tuple[object, int]] = {}
        """The status of each thread as it was last told, and when."""

    def process_message(self, message: JsonObject, agents: Sequence[ServedAgent], at: int) -> list[SourceRecord]:
        """What was said unasked."""
        self.ended_turn = None
        method, params = get_str(message, "method"), get_object(message, "params")
        if method in _IGNORED_METHODS:
            return []
        if method == "account/rateLimits/updated":
            return [_build_record(message, hint, at) for hint in self._list_reported_hints(agents)]
        thread = self._update_threads(method, message, agents)
        parent, hint = self.threads.get_parent(thread), self.threads.build_hint(thread, agents)
        if hint is None or (parent and method not in (_STATUS_CHANGED, _THREAD_STARTED)):
            return []
        told = [_build_record(_mark_as_subtask(message, parent, thread) if parent else message, hint, at)]
        if method == _STATUS_CHANGED:
            told += self._repeat_parent_status(thread, parent, hint, at)
            self.ended_turn = None if parent else self._find_ended_turn(thread, get_object(params, "status"))
            self._reported_statuses[thread] = (params.get("status"), at)
        elif method == _THREAD_STARTED:
            self._reported_statuses[thread] = (get_object(params, "thread").get("status"), at)
        return told

    def process_listed_thread(self, thread: JsonObject, agents: Sequence[ServedAgent], at: int) -> list[SourceRecord]:
        """A thread out of a list."""
        known = self.threads.add_thread(thread)
        status = thread.get("status")
        self.threads.update_status(
            known.id, agents, is_active=get_str(get_object(thread, "status"), "type") == "active"
        )
        hint = self.threads.build_hint(known.id, agents)
        was, told_at = self._reported_statuses.get(known.id, (None, 0))
        if hint is None or (was == status and abs(at - told_at) < STATUS_REPEAT_NS):
            return []
        self._reported_statuses[known.id] = (status, at)
        message = {"method": server_messages.THREAD_LISTED, "params": {"threadId": known.id, "thread": thread}}
        parent = self.threads.get_parent(known.id)
        return [_build_record(_mark_as_subtask(message, parent, known.id) if parent else message, hint, at)]

    def process_last_turn(
        self, thread: str, turn: JsonObject, agents: Sequence[ServedAgent], at: int
    ) -> list[SourceRecord]:
        """How the last turn of a thread ended, out of an answer."""
        hint = self.threads.build_hint(thread, agents)
        message = {"method": server_messages.TURN_LISTED_METHOD, "params": {"threadId": thread, "turn": turn}}
        return [] if hint is None or not turn else [_build_record(message, hint, at)]

    def process_connection_lost(self, agents: Sequence[ServedAgent], at: int) -> list[SourceRecord]:
        """The server cannot be heard any more. What it asked is asked anew by whoever comes next."""
        told = [
            _build_record({"method": server_messages.CONNECTION_LOST}, hint, at)
            for hint in self._list_reported_hints(agents)
        ]
        self.pending_requests.clear()
        self._reported_statuses.clear()
        return told

    def _update_threads(self, method: str, message: JsonObject, agents: Sequence[ServedAgent]) -> str:
        """Learns from a message; the thread that it is about."""
        params = get_object(message, "params")
        thread = get_str(params, "threadId")
        if method == _THREAD_STARTED:
            thread = self.threads.add_thread(get_object(params, "thread")).id
            self.threads.mark_shown(thread, agents)
        elif method == _STATUS_CHANGED:
            self.needs_thread_list = self.needs_thread_list or not self.threads.has_thread(thread)
            is_active = get_str(get_object(params, "status"), "type") == "active"
            self.threads.update_status(thread, agents, is_active=is_active)
        elif method in ("thread/closed", "thread/deleted"):
            self.threads.remove_thread(thread)
        self._update_pending_requests(method, message)
        return thread

    def _update_pending_requests(self, method: str, message: JsonObject) -> None:
        number, resolved = message.get("id"), get_object(message, "params").get("requestId")
        if isinstance(number, int | str):
            self.pending_requests[number] = message
        elif method == "serverRequest/resolved" and isinstance(resolved, int | str):
            self.pending_requests.pop(resolved, None)

    def _find_ended_turn(self, thread: str, status: JsonObject) -> tuple[str, str] | None:
        """Of a thread that was at work: one that is taken up again says that it rests, too."""
        was, _ = self._reported_statuses.get(thread, (None, 0))
        end = _TURN_ENDS_BY_STATUS.get(get_str(status, "type"))
        is_end = end is not None and isinstance(was, dict) and was.get("type") == "active"
        return (thread, end) if is_end and end is not None else None

    def _repeat_parent_status(self, thread: str, parent: str, hint: ProcessHint, at: int) -> list[SourceRecord]:
        """A sub-agent that waits makes its parent wait; when it goes on, the parent's own status counts again."""
        was, _ = self._reported_statuses.get(thread, (None, 0))
        status, _ = self._reported_statuses.get(parent, (None, 0))
        if not isinstance(was, dict) or not was.get("activeFlags") or status is None:
            return []
        return [_build_record({"method": _STATUS_CHANGED, "params": {"threadId": parent, "status": status}}, hint, at)]

    def _list_reported_hints(self, agents: Sequence[ServedAgent]) -> list[ProcessHint]:
        """All whose threads were told."""
        hints = {
            hint for thread in self._reported_statuses if (hint := self.threads.build_hint(thread, agents)) and hint.pid
        }
        return sorted(hints, key=lambda hint: hint.pid)


def _mark_as_subtask(message: JsonObject, parent: str, thread: str) -> JsonObject:
    """A sub-agent's thread is told as a task of the thread that started it."""
    return {**message, "params": {**get_object(message, "params"), "parentThreadId": parent, "childThreadId": thread}}


def _build_record(message: JsonObject, hint: ProcessHint, at: int) -> SourceRecord:
    params = get_object(message, "params")
    if thread := get_object(params, "thread"):
        brief = {name: value for name, value in thread.items() if name in _KEPT_THREAD_FIELDS}
        message = {**message, "params": {**params, "thread": brief}}
    return SourceRecord(source=SOURCE_NAME, text=msgspec.json.encode(message).decode(), at=at, hint=hint)
