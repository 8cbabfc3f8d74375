"""Find the process that owns a Codex thread. The app-server reports threads and folders, but no panes or processes.

A process owns a thread if its command line names it, or if it is the only Codex in the thread's folder that was started
before the thread. If two processes match, the thread gets no owner, now or later, and its folder is reported as a
conflict. If none matches, nothing is reported, not even the folder. Owners never change: a process that starts later
does not take over any thread.

A process may own several threads, because `/new` leaves the old one behind. Its pane shows the thread that started
last or was the last to start a turn.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from termvisor.agents.adapters.codex.adapter import find_resumed_session, find_working_folder, uses_shared_server
from termvisor.agents.adapters.codex.transcript import INTERACTIVE_ORIGINATORS
from termvisor.agents.adapters.json_access import NS_PER_MS, NS_PER_SECOND, JsonObject, get_int, get_object, get_str
from termvisor.agents.adapters.server_contract import ProcessKey, ServedAgent
from termvisor.model.agent.signal import ProcessHint

# The start time of a process is accurate only to about a second.
_START_TOLERANCE_NS = 2 * 10**9


class CodexThread(Struct, frozen=True, kw_only=True):
    """The properties of a thread on which its owner depends."""

    id: str
    cwd: str = ""
    created_at: int = 0
    parent: str = ""
    is_hidden: bool = False
    """True if it is internal to Codex or belongs to a program other than an interactive Codex."""


class ThreadRegistry:
    """The threads of one server, in the order in which they were reported."""

    def __init__(self) -> None:
        self._threads_by_id: dict[str, CodexThread] = {}
        self._shown_threads: dict[ProcessKey, str] = {}
        """The thread that the pane of each process shows."""
        self._active_threads: set[str] = set()
        self._owner_keys: dict[str, ProcessKey | None] = {}
        """The proven owner of each thread; None if several processes matched."""

    def has_thread(self, thread: str) -> bool:
        return thread in self._threads_by_id

    def is_owner_known(self, thread: str) -> bool:
        """Return True if the search for the owner is finished: it was found, is ambiguous or is not needed."""
        known = self._threads_by_id.get(thread)
        return known is not None and (known.is_hidden or thread in self._owner_keys)

    def add_thread(self, fields: JsonObject) -> CodexThread:
        """Add or update a thread as the server describes it."""
        thread = parse_thread(fields)
        self._threads_by_id[thread.id] = thread
        return thread

    def remove_thread(self, thread: str) -> None:
        self._threads_by_id.pop(thread, None)
        self._owner_keys.pop(thread, None)
        self._active_threads.discard(thread)

    def mark_shown(self, thread: str, agents: Sequence[ServedAgent]) -> None:
        """Record that a thread, which is new or has started a turn, is now shown by its owner; never a sub-agent's."""
        owner = None if self.get_parent(thread) else self._find_owner(thread, agents)
        if isinstance(owner, ServedAgent):
            self._shown_threads[owner.process_key] = thread

    def update_status(self, thread: str, agents: Sequence[ServedAgent], *, is_active: bool) -> None:
        """Record the status of a thread. A thread that becomes active is shown by its owner."""
        if is_active and thread not in self._active_threads:
            self.mark_shown(thread, agents)
        (self._active_threads.add if is_active else self._active_threads.discard)(thread)

    def get_parent(self, thread: str) -> str:
        """Return the thread that started this one as a sub-agent; empty if there is none."""
        known = self._threads_by_id.get(thread)
        return known.parent if known is not None and known.parent in self._threads_by_id else ""

    def build_hint(self, thread: str, agents: Sequence[ServedAgent]) -> ProcessHint | None:
        """Return the process for a thread's records; None if nothing may be reported about this thread."""
        root = self.get_parent(thread) or thread
        known = self._threads_by_id.get(root)
        if known is None or known.is_hidden:
            return None
        owner = self._find_owner(root, agents)
        if owner is None:
            return None
        if not isinstance(owner, ServedAgent):
            return ProcessHint(cwd=known.cwd, is_doubtful=True)
        is_shown = not owner.is_unwatched and self._shown_threads.setdefault(owner.process_key, root) == root
        return ProcessHint(pid=owner.process.pid, pid_started=owner.process.pid_started) if is_shown else None

    def find_shown_thread(self, pid: int, agents: Sequence[ServedAgent]) -> str:
        """Return the thread that the pane of this process provably shows; empty if there is no proof."""
        for thread in reversed(self._threads_by_id.values()):
            hint = None if thread.parent else self.build_hint(thread.id, agents)
            if hint is not None and hint.pid == pid:
                return thread.id
        return ""

    def list_conflicting_folders(self, agents: Sequence[ServedAgent]) -> list[str]:
        """Return the folders with an ambiguous thread in which an observed pane runs Codex."""
        folders = {self._threads_by_id[thread].cwd for thread, owner in self._owner_keys.items() if owner is None}
        watched = [agent for agent in agents if not agent.is_unwatched]
        return sorted(cwd for cwd in folders if _filter_by_folder(cwd, watched))

    def _find_owner(self, thread: str, agents: Sequence[ServedAgent]) -> ServedAgent | str | None:
        """Return the owner of a thread, the folder if several processes match, or None."""
        known = self._threads_by_id.get(thread)
        if known is None or known.is_hidden:
            return None
        named = [agent for agent in agents if find_resumed_session(agent.process) == thread]
        if len(named) == 1:
            return named[0]
        candidates = named or [
            agent
            for agent in _filter_by_folder(known.cwd, agents)
            if known.created_at >= agent.started_at - _START_TOLERANCE_NS
        ]
        if candidates and thread not in self._owner_keys:
            self._owner_keys[thread] = candidates[0].process_key if len(candidates) == 1 else None
        if thread in self._owner_keys and self._owner_keys[thread] is None:
            return known.cwd
        return next((agent for agent in agents if agent.process_key == self._owner_keys.get(thread)), None)


def _filter_by_folder(cwd: str, agents: Iterable[ServedAgent]) -> list[ServedAgent]:
    return [
        agent for agent in agents if uses_shared_server(agent.process) and find_working_folder(agent.process) == cwd
    ]


def parse_thread(fields: JsonObject) -> CodexThread:
    """Parse a thread as the server describes it."""
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
    """Return the time in a thread id that is a version 7 UUID; 0 for any other id."""
    digits = thread.replace("-", "")
    is_version_7 = len(digits) == 32 and digits[12] == "7"
    try:
        return int(digits[:12], 16) * NS_PER_MS if is_version_7 else 0
    # 32 characters that are not hexadecimal are no UUID.
    except ValueError:
        return 0
