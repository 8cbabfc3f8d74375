"""Notice what happens in a tmux server without sending it a command.

Every command of ours is a line in the user's message log, so none is sent while nothing happens. The kernel tells
enough: a server that did not run changed nothing; the programs of panes are its children; a pane's size is the size of
its terminal; and its end is the end of its process. Where the kernel does not tell (no Linux, another user's process),
everything counts as changed and the watcher lists the panes at its own intervals.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterable

from termvisor.model.terminal.pane import PaneFacts
from termvisor.system import procfs
from termvisor.system.tty import read_terminal_size

# A new child may not have opened its terminal yet when it is first seen.
_MAX_CHILD_CHECKS = 3


class ServerActivity:
    """Observer of one server process. ``on_exit`` is called once the process has exited."""

    def __init__(self, pid: int, on_exit: Callable[[], None]):
        self._pid, self._on_exit = pid, on_exit
        self._run_count: int | None = None
        self._children: set[int] = set()
        self._unclassified_children: dict[int, int] = {}
        """New children without a terminal, and how often they were looked at: a job of tmux, or a pane's program."""
        self._sizes: dict[str, tuple[int, int] | None] = {}
        self._exit_handle = self._watch_exit()

    def close(self) -> None:
        if self._exit_handle is not None:
            asyncio.get_running_loop().remove_reader(self._exit_handle)
            os.close(self._exit_handle)
            self._exit_handle = None

    @property
    def has_children(self) -> bool:
        """Return True if the server had child processes when they were last read."""
        return bool(self._children)

    def has_run(self) -> bool:
        """Return True if the server ran since the last call, or if that is unknown."""
        previous, self._run_count = self._run_count, procfs.read_run_count(self._pid)
        return self._run_count is None or self._run_count != previous or bool(self._unclassified_children)

    def detect_pane_changes(self, panes: Iterable[PaneFacts]) -> bool:
        """Return True if a program was started in a pane, a pane's program exited, or a pane was resized."""
        pane_list = list(panes)
        # Both have to be evaluated, because each remembers what it saw.
        has_resized = self._detect_size_changes(pane_list)
        return self._detect_child_changes({facts.pid for facts in pane_list if not facts.dead}) or has_resized

    def _detect_child_changes(self, pane_pids: set[int]) -> bool:
        children = procfs.list_children(self._pid)
        if children is None:
            return False
        previous, self._children = self._children, set(children)
        for pid in self._children - previous - pane_pids:
            self._unclassified_children[pid] = 0
        return self._has_new_program(pane_pids) or not pane_pids <= self._children

    def _has_new_program(self, pane_pids: set[int]) -> bool:
        """Return True if a new child has a terminal: jobs (`#()`, run-shell, pipes) have none."""
        has_new = False
        for pid, checks in list(self._unclassified_children.items()):
            process = procfs.read_stat(pid)
            is_known = pid in pane_pids
            has_new = has_new or (process is not None and process.terminal != 0 and not is_known)
            if is_known or process is None or process.terminal != 0 or checks + 1 >= _MAX_CHILD_CHECKS:
                del self._unclassified_children[pid]
            else:
                self._unclassified_children[pid] = checks + 1
        return has_new

    def _detect_size_changes(self, panes: list[PaneFacts]) -> bool:
        """Return True if a terminal's size differs from what it was, or for a new pane, from what tmux said.

        tmux changes the size of a pane first and that of its terminal up to a quarter of a second later. A terminal
        that vanished is a pane that died: tmux 3.3a may leave its program behind as a zombie, which is still a child.
        """
        sizes = {facts.tty: read_terminal_size(facts.tty) for facts in panes if facts.tty and not facts.dead}
        listed = {facts.tty: (facts.width, facts.height) for facts in panes}
        previous, self._sizes = self._sizes, sizes
        return any(size != previous.get(tty, listed[tty]) for tty, size in sizes.items())

    def _watch_exit(self) -> int | None:
        if sys.platform != "linux":
            return None  # untested: there, failing requests show that the server is gone
        with contextlib.suppress(OSError):
            # Gone already, or in another process namespace: failing requests show the end.
            handle = os.pidfd_open(self._pid)
            asyncio.get_running_loop().add_reader(handle, self._handle_exit)
            return handle
        return None

    def _handle_exit(self) -> None:
        self.close()
        self._on_exit()
