"""Turn app-server messages into records, each with the process that its thread provably belongs to. Pure.

In: messages and answers, in order, and the running Codex processes. Out: records, none for a thread whose process is
not proven. An unchanged status is repeated once a minute, to keep it from becoming stale.
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
# Repeat an unchanged status after this time.
STATUS_REPEAT_NS = 60 * 10**9
_THREAD_STARTED, _STATUS_CHANGED = "thread/started", "thread/status/changed"
_TURN_ENDS_BY_STATUS = {"idle": "completed", "systemError": "failed"}
_IGNORED_METHODS = frozenset(
    {"item/agentMessage/delta", "item/commandExecution/outputDelta", "item/reasoning/textDelta", "hook/started"}
)
# The other fields are long or contain the user's text.
_KEPT_THREAD_FIELDS = ("id", "cwd", "status", "path", "name", "model", "cliVersion", "originator", "parentThreadId")


class CodexEventRelay:
    """State of one app-server connection: its threads, pending requests and reported statuses."""

    def __init__(self) -> None:
        self.threads = ThreadRegistry()
        self.pending_requests: dict[int | str, JsonObject] = {}
        """Unanswered requests of the server by request id."""
        self.needs_thread_list = False
        """True if a message named an unknown thread, so that the thread list must be fetched."""
        self.ended_turn: tuple[str, str] | None = None
        """The thread whose turn ended with the last message, and the expected status of that turn."""
        self._reported_statuses: dict[str, tuple[object, int]] = {}
        """By thread, the status that was reported last, and when."""

    def process_message(self, message: JsonObject, agents: Sequence[ServedAgent], at: int) -> list[SourceRecord]:
        """Return the records for a notification or request from the server."""
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
        records = [_build_record(_mark_as_subtask(message, parent, thread) if parent else message, hint, at)]
        if method == _STATUS_CHANGED:
            records += self._repeat_parent_status(thread, parent, hint, at)
            self.ended_turn = None if parent else self._find_ended_turn(thread, get_object(params, "status"))
            self._reported_statuses[thread] = (params.get("status"), at)
        elif method == _THREAD_STARTED:
            self._reported_statuses[thread] = (get_object(params, "thread").get("status"), at)
        return records

    def process_listed_thread(self, thread: JsonObject, agents: Sequence[ServedAgent], at: int) -> list[SourceRecord]:
        """Return the record for a thread in the list if its status has changed."""
        thread_id = self.threads.add_thread(thread).id
        status = thread.get("status")
        is_active = get_str(get_object(thread, "status"), "type") == "active"
        self.threads.update_status(thread_id, agents, is_active=is_active)
        hint = self.threads.build_hint(thread_id, agents)
        last_status, reported_at = self._reported_statuses.get(thread_id, (None, 0))
        if hint is None or (last_status == status and abs(at - reported_at) < STATUS_REPEAT_NS):
            return []
        self._reported_statuses[thread_id] = (status, at)
        message = {"method": server_messages.THREAD_LISTED, "params": {"threadId": thread_id, "thread": thread}}
        parent = self.threads.get_parent(thread_id)
        return [_build_record(_mark_as_subtask(message, parent, thread_id) if parent else message, hint, at)]

    def process_last_turn(
        self, thread: str, turn: JsonObject, agents: Sequence[ServedAgent], at: int
    ) -> list[SourceRecord]:
        """Return the record for the end of a thread's last turn."""
        hint = self.threads.build_hint(thread, agents)
        message = {"method": server_messages.TURN_LISTED_METHOD, "params": {"threadId": thread, "turn": turn}}
        return [] if hint is None or not turn else [_build_record(message, hint, at)]

    def process_connection_lost(self, agents: Sequence[ServedAgent], at: int) -> list[SourceRecord]:
        """Return the records for a lost connection. The server repeats pending requests on the next one."""
        records = [
            _build_record({"method": server_messages.CONNECTION_LOST}, hint, at)
            for hint in self._list_reported_hints(agents)
        ]
        self.pending_requests.clear()
        self._reported_statuses.clear()
        return records

    def _update_threads(self, method: str, message: JsonObject, agents: Sequence[ServedAgent]) -> str:
        """Update the registry from a message and return the id of its thread."""
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
        request_id, resolved_id = message.get("id"), get_object(message, "params").get("requestId")
        if isinstance(request_id, int | str):
            self.pending_requests[request_id] = message
        elif method == "serverRequest/resolved" and isinstance(resolved_id, int | str):
            self.pending_requests.pop(resolved_id, None)

    def _find_ended_turn(self, thread: str, status: JsonObject) -> tuple[str, str] | None:
        """Return the ended turn of a thread that was active. A resumed thread reports idle without a turn."""
        last_status, _ = self._reported_statuses.get(thread, (None, 0))
        end = _TURN_ENDS_BY_STATUS.get(get_str(status, "type"))
        was_active = isinstance(last_status, dict) and last_status.get("type") == "active"
        return (thread, end) if end is not None and was_active else None

    def _repeat_parent_status(self, thread: str, parent: str, hint: ProcessHint, at: int) -> list[SourceRecord]:
        """Return the parent's own status after the end of its sub-agent's wait, which was reported for the parent."""
        last_status, _ = self._reported_statuses.get(thread, (None, 0))
        status, _ = self._reported_statuses.get(parent, (None, 0))
        if not isinstance(last_status, dict) or not last_status.get("activeFlags") or status is None:
            return []
        return [_build_record({"method": _STATUS_CHANGED, "params": {"threadId": parent, "status": status}}, hint, at)]

    def _list_reported_hints(self, agents: Sequence[ServedAgent]) -> list[ProcessHint]:
        """Return the processes of all reported threads."""
        hints = {
            hint for thread in self._reported_statuses if (hint := self.threads.build_hint(thread, agents)) and hint.pid
        }
        return sorted(hints, key=lambda hint: hint.pid)


def _mark_as_subtask(message: JsonObject, parent: str, thread: str) -> JsonObject:
    """Mark a sub-agent's thread as a task of the thread that started it."""
    return {**message, "params": {**get_object(message, "params"), "parentThreadId": parent, "childThreadId": thread}}


def _build_record(message: JsonObject, hint: ProcessHint, at: int) -> SourceRecord:
    params = get_object(message, "params")
    if thread := get_object(params, "thread"):
        brief = {name: value for name, value in thread.items() if name in _KEPT_THREAD_FIELDS}
        message = {**message, "params": {**params, "thread": brief}}
    return SourceRecord(source=SOURCE_NAME, text=msgspec.json.encode(message).decode(), at=at, hint=hint)
