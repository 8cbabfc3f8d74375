"""Whose thread it is. The app-server knows threads and folders, but no panes and no processes.

A thread is a process' own where the command line names it, or where that process is the only Codex of this machine in
the thread's folder that was there before the thread. Where two would fit, nobody gets it, then or later, and the folder
is told, so that the conflict is counted. Where nobody fits, nothing is told: not even the folder, in which somebody
else may sit. What was proven once stays so: who comes later takes nobody's thread.

Of one process several threads may live on, for `/new` leaves the old one behind: the one that began last, or last
began a turn, is the one that its pane shows.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from termvisor.agents.adapters.codex.process_match import find_resumed_session, find_working_folder, uses_shared_server
from termvisor.agents.adapters.codex.rollout import INTERACTIVE_ORIGINATORS
from termvisor.agents.adapters.json_access import NS_PER_MS, NS_PER_SECOND, JsonObject, get_int, get_object, get_str
from termvisor.agents.adapters.server_contract import ProcessKey, ServedAgent
from termvisor.model.agent.signal import ProcessHint

_START_TOLERANCE_NS = 2 * 10**9
"""A process' start is known to the second only, and a little rounded."""


class CodexThread(Struct, frozen=True, kw_only=True):
    id: str
    cwd: str = ""
    created_at: int = 0
    parent: str = ""
    is_hidden: bool = False
    """Codex keeps it for itself, or it belongs to a program that is no Codex with a face."""


class ThreadRegistry:
    """What is known of the threads of one server, in the order in which it was told."""

    def __init__(self) -> None:
        self._threads_by_id: dict[str, CodexThread] = {}
        self._shown_threads: dict[ProcessKey, str] = {}
        """The thread that each process shows."""
        self._active_threads: set[str] = set()
        self._owner_keys: dict[str, ProcessKey | None] = {}
        """Whose each thread was proven to be; None where two would have fitted."""

    def has_thread(self, thread: str) -> bool:
        return thread in self._threads_by_id

    def is_owner_known(self, thread: str) -> bool:
        """Whether it is known whose it is, or that nobody can know, or that it concerns nobody."""
        found = self._threads_by_id.get(thread)
        return found is not None and (found.is_hidden or thread in self._owner_keys)

    def add_thread(self, fields: JsonObject) -> CodexThread:
        """From a thread as the server describes it."""
        thread = parse_thread(fields)
        self._threads_by_id[thread.id] = thread
        return thread

    def remove_thread(self, thread: str) -> None:
        self._threads_by_id.pop(thread, None)
        self._owner_keys.pop(thread, None)
        self._active_threads.discard(thread)

    def mark_shown(self, thread: str, agents: Sequence[ServedAgent]) -> None:
        """It is new, or has begun a turn: from now on its process shows it. A sub-agent's is never shown."""
        owner = None if self.get_parent(thread) else self._find_owner(thread, agents)
        if isinstance(owner, ServedAgent):
            self._shown_threads[owner.process_key] = thread

    def update_status(self, thread: str, agents: Sequence[ServedAgent], *, is_active: bool) -> None:
        """Its status changed."""
        if is_active and thread not in self._active_threads:
            self.mark_shown(thread, agents)
        (self._active_threads.add if is_active else self._active_threads.discard)(thread)

    def get_parent(self, thread: str) -> str:
        found = self._threads_by_id.get(thread)
        return found.parent if found is not None and found.parent in self._threads_by_id else ""

    def build_hint(self, thread: str, agents: Sequence[ServedAgent]) -> ProcessHint | None:
        """What to say of its process; None where nothing is to be told of this thread."""
        root = self.get_parent(thread) or thread
        found = self._threads_by_id.get(root)
        if found is None or found.is_hidden:
            return None
        owner = self._find_owner(root, agents)
        if owner is None:
            return None
        if not isinstance(owner, ServedAgent):
            return ProcessHint(cwd=found.cwd, is_doubtful=True)
        is_shown = not owner.is_unwatched and self._shown_threads.setdefault(owner.process_key, root) == root
        return ProcessHint(pid=owner.process.pid, pid_started=owner.process.pid_started) if is_shown else None

    def find_shown_thread(self, pid: int, agents: Sequence[ServedAgent]) -> str:
        """The thread that the pane of this process shows, where that is proven; else empty."""
        own = (one.id for one in reversed(self._threads_by_id.values()) if not one.parent)
        return next((one for one in own if (hint := self.build_hint(one, agents)) is not None and hint.pid == pid), "")

    def list_conflicting_folders(self, agents: Sequence[ServedAgent]) -> list[str]:
        """Folders with a thread that may be that of more than one Codex, while one of our panes sits there."""
        doubted = {self._threads_by_id[thread].cwd for thread, owner in self._owner_keys.items() if owner is None}
        here = [one for one in agents if not one.is_unwatched]
        return sorted(cwd for cwd in doubted if _filter_by_folder(cwd, here))

    def _find_owner(self, thread: str, agents: Sequence[ServedAgent]) -> ServedAgent | str | None:
        """The one; the folder that is in conflict; or nobody."""
        found = self._threads_by_id.get(thread)
        if found is None or found.is_hidden:
            return None
        named = [one for one in agents if find_resumed_session(one.process) == thread]
        if len(named) == 1:
            return named[0]
        fitting = named or [
            one
            for one in _filter_by_folder(found.cwd, agents)
            if found.created_at >= one.started_at - _START_TOLERANCE_NS
        ]
        if fitting and thread not in self._owner_keys:
            self._owner_keys[thread] = fitting[0].process_key if len(fitting) == 1 else None
        if thread in self._owner_keys and self._owner_keys[thread] is None:
            return found.cwd
        return next((one for one in agents if one.process_key == self._owner_keys.get(thread)), None)


def _filter_by_folder(cwd: str, agents: Iterable[ServedAgent]) -> list[ServedAgent]:
    return [one for one in agents if uses_shared_server(one.process) and find_working_folder(one.process) == cwd]


def parse_thread(fields: JsonObject) -> CodexThread:
    source = fields.get("threadSource")
    is_hidden = (
        fields.get("ephemeral") is True
        or get_str(fields, "originator") not in INTERACTIVE_ORIGINATORS
        or source == "thread_title"
    )
    parent = get_str(fields, "parentThreadId")
    return CodexThread(
        id=get_str(fields, "id"),
        cwd=get_str(fields, "cwd") or get_str(get_object(fields, "settings"), "cwd"),
        created_at=_parse_creation_time(get_str(fields, "id")) or (get_int(fields, "createdAt") or 0) * NS_PER_SECOND,
        parent=parent,
        is_hidden=is_hidden and not parent,
    )


def _parse_creation_time(thread: str) -> int:
    """The instant within a UUID of version 7, which is what threads are called by."""
    digits = thread.replace("-", "")
    is_timed = len(digits) == 32 and digits[12] == "7"
    try:
        return int(digits[:12], 16) * NS_PER_MS if is_timed else 0
    except ValueError:
        return 0
