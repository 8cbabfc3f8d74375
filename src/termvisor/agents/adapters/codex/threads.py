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

from termvisor.agents.adapters.codex.process_match import resumed_by, uses_shared_server, workplace_of
from termvisor.agents.adapters.codex.rollout import FACES
from termvisor.agents.adapters.json_access import MILLISECOND, SECOND, Json, inside, number, text
from termvisor.agents.adapters.server_contract import Face, Life
from termvisor.model.agent.signal import Hint

_SLACK = 2 * 10**9
"""A process' start is known to the second only, and a little rounded."""


class Thread(Struct, frozen=True, kw_only=True):
    id: str
    cwd: str = ""
    created_at: int = 0
    parent: str = ""
    is_hidden: bool = False
    """Codex keeps it for itself, or it belongs to a program that is no Codex with a face."""


class Threads:
    """What is known of the threads of one server, in the order in which it was told."""

    def __init__(self) -> None:
        self._known: dict[str, Thread] = {}
        self._shown: dict[Life, str] = {}
        """The thread that each process shows."""
        self._active: set[str] = set()
        self._owners: dict[str, Life | None] = {}
        """Whose each thread was proven to be; None where two would have fitted."""

    def knows(self, thread: str) -> bool:
        return thread in self._known

    def is_settled(self, thread: str) -> bool:
        """Whether it is known whose it is, or that nobody can know, or that it concerns nobody."""
        found = self._known.get(thread)
        return found is not None and (found.is_hidden or thread in self._owners)

    def learn(self, told: Json) -> Thread:
        """From a thread as the server describes it."""
        thread = thread_of(told)
        self._known[thread.id] = thread
        return thread

    def forget(self, thread: str) -> None:
        self._known.pop(thread, None)
        self._owners.pop(thread, None)
        self._active.discard(thread)

    def began(self, thread: str, faces: Sequence[Face]) -> None:
        """It is new, or has begun a turn: from now on its process shows it. A sub-agent's is never shown."""
        owner = None if self.parent_of(thread) else self._owner(thread, faces)
        if isinstance(owner, Face):
            self._shown[owner.life] = thread

    def turned(self, thread: str, faces: Sequence[Face], *, is_active: bool) -> None:
        """Its status changed."""
        if is_active and thread not in self._active:
            self.began(thread, faces)
        (self._active.add if is_active else self._active.discard)(thread)

    def parent_of(self, thread: str) -> str:
        found = self._known.get(thread)
        return found.parent if found is not None and found.parent in self._known else ""

    def hint_of(self, thread: str, faces: Sequence[Face]) -> Hint | None:
        """What to say of its process; None where nothing is to be told of this thread."""
        root = self.parent_of(thread) or thread
        found = self._known.get(root)
        if found is None or found.is_hidden:
            return None
        owner = self._owner(root, faces)
        if owner is None:
            return None
        if not isinstance(owner, Face):
            return Hint(cwd=found.cwd, is_doubtful=True)
        is_shown = not owner.is_elsewhere and self._shown.setdefault(owner.life, root) == root
        return Hint(pid=owner.process.pid, pid_started=owner.process.pid_started) if is_shown else None

    def shown_by(self, pid: int, faces: Sequence[Face]) -> str:
        """The thread that the pane of this process shows, where that is proven; else empty."""
        own = (one.id for one in reversed(self._known.values()) if not one.parent)
        return next((one for one in own if (hint := self.hint_of(one, faces)) is not None and hint.pid == pid), "")

    def conflicts(self, faces: Sequence[Face]) -> list[str]:
        """Folders with a thread that may be that of more than one Codex, while one of our panes sits there."""
        doubted = {self._known[thread].cwd for thread, owner in self._owners.items() if owner is None}
        here = [one for one in faces if not one.is_elsewhere]
        return sorted(cwd for cwd in doubted if _sitting(cwd, here))

    def _owner(self, thread: str, faces: Sequence[Face]) -> Face | str | None:
        """The one; the folder that is in conflict; or nobody."""
        found = self._known.get(thread)
        if found is None or found.is_hidden:
            return None
        named = [one for one in faces if resumed_by(one.process) == thread]
        if len(named) == 1:
            return named[0]
        fitting = named or [one for one in _sitting(found.cwd, faces) if found.created_at >= one.started_at - _SLACK]
        if fitting and thread not in self._owners:
            self._owners[thread] = fitting[0].life if len(fitting) == 1 else None
        if thread in self._owners and self._owners[thread] is None:
            return found.cwd
        return next((one for one in faces if one.life == self._owners.get(thread)), None)


def _sitting(cwd: str, faces: Iterable[Face]) -> list[Face]:
    return [one for one in faces if uses_shared_server(one.process) and workplace_of(one.process) == cwd]


def thread_of(told: Json) -> Thread:
    source = told.get("threadSource")
    is_hidden = told.get("ephemeral") is True or text(told, "originator") not in FACES or source == "thread_title"
    parent = text(told, "parentThreadId")
    return Thread(
        id=text(told, "id"),
        cwd=text(told, "cwd") or text(inside(told, "settings"), "cwd"),
        created_at=_born(text(told, "id")) or (number(told, "createdAt") or 0) * SECOND,
        parent=parent,
        is_hidden=is_hidden and not parent,
    )


def _born(thread: str) -> int:
    """The instant within a UUID of version 7, which is what threads are called by."""
    digits = thread.replace("-", "")
    is_timed = len(digits) == 32 and digits[12] == "7"
    try:
        return int(digits[:12], 16) * MILLISECOND if is_timed else 0
    except ValueError:
        return 0
