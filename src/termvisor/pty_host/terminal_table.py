"""All terminals of the host, the hand-offs in progress, the viewers and what they may show.

``changed`` accumulates the numbers of terminals to report until the event loop takes them.
"""

from __future__ import annotations

import posix
from time import monotonic, time_ns  # noqa: TID251 - the host cannot import termvisor.clock

from termvisor.pty_host.child import HeldChild
from termvisor.pty_host.clients import ViewerClient, choose_size
from termvisor.pty_host.handoff import RecorderHandoff
from termvisor.pty_host.poller import HostPoller
from termvisor.pty_host.spec import ProgramSpec
from termvisor.pty_host.startup import Fields, HostOptions
from termvisor.pty_host.terminal import HostedTerminal

_MAX_GRANTS = 1000
# A person's keys are reported to the daemon at most this often.
_TYPING_REPORT_NS = 200_000_000


class TerminalTable:
    def __init__(self, options: HostOptions, poller: HostPoller):
        self._options, self._poller = options, poller
        self.raw_dir = options.raw_dir
        self.terminals: dict[int, HostedTerminal] = {}
        self.changed: dict[int, None] = {}
        self.handoffs: dict[int, RecorderHandoff] = {}
        self.viewers: dict[int, ViewerClient] = {}
        self.grants: dict[str, int] = {}
        self.next_number = 1
        self._exec_pipes: dict[int, int] = {}
        self._blocked_masters: dict[int, int] = {}

    def add_child(self, child: HeldChild, spec: ProgramSpec) -> HostedTerminal:
        """Add a held child. Raises OSError if its result file cannot be created."""
        terminal = HostedTerminal.create(self.next_number, child, spec, self._options.result_dir)
        self.next_number += 1
        self._add(terminal)
        self.mark_changed(terminal.number)
        return terminal

    def restore(self, row: Fields) -> None:
        """Continue with a terminal from before a re-exec."""
        path = f"{self._options.result_dir}/{row['pid']}.{row['start']}"
        self._add(HostedTerminal(int(row["number"]), row, path))

    def mark_changed(self, number: int) -> None:
        self.changed[number] = None

    def remove(self, number: int) -> None:
        terminal = self.terminals.pop(number)
        self._stop_waiting_for_room(terminal.master)
        if self._exec_pipes.pop(terminal.error_fd, None) is not None:
            self._poller.remove(terminal.error_fd)
        terminal.close()
        self.grants = {token: each for token, each in self.grants.items() if each != number}
        self.mark_changed(number)

    def start_handoff(self, terminal: HostedTerminal, stream: str, requester: tuple[int, str]) -> None:
        """Send the master to the recorder. Raises OSError if it cannot be reached."""
        handoff = RecorderHandoff(self._options.recorder_socket, terminal.number, terminal.master, stream, requester)
        self._poller.add(handoff.fileno())
        self.handoffs[handoff.fileno()] = handoff

    def finish_handoff(self, fd: int) -> tuple[RecorderHandoff, str] | None:
        """Return a hand-off and its result if the recorder has answered. The program may run if it was accepted."""
        handoff = self.handoffs[fd]
        try:
            result = handoff.read_answer()
        except BlockingIOError:
            return None
        self._close_handoff(fd)
        terminal = self.terminals.get(handoff.number)
        if terminal is None:
            return handoff, "terminal"
        if result == "ok":
            terminal.stream = handoff.stream
            terminal.open_gate()
            self.mark_changed(terminal.number)
            self.report_to_viewers(terminal.number, b"stream " + handoff.stream.encode() + b"\n")
        return handoff, result

    def list_expired_handoffs(self) -> list[RecorderHandoff]:
        """Remove and return hand-offs that the recorder did not answer in time."""
        now = monotonic()
        expired = [fd for fd, handoff in self.handoffs.items() if handoff.deadline <= now]
        return [self._close_handoff(fd) for fd in expired]

    def note_exec_result(self, fd: int) -> int:
        """Read whether exec failed; return the number of the terminal. End of file means that the program runs."""
        number = self._exec_pipes.pop(fd)
        terminal = self.terminals.get(number)
        self._poller.remove(fd)
        text = posix.read(fd, 16)
        posix.close(fd)
        if terminal is not None:
            terminal.note_exec(int(text) if text.isdigit() else 0)
            self.mark_changed(number)
        return number

    def is_exec_pipe(self, fd: int) -> bool:
        return fd in self._exec_pipes

    def reap_children(self) -> None:
        """Note the ends of all children that have exited."""
        while True:
            try:
                pid, status, usage = posix.wait4(-1, posix.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for terminal in self.terminals.values():
                if terminal.pid == pid and "code" not in terminal.exit:
                    terminal.note_exit(status, (usage.ru_utime, usage.ru_stime, usage.ru_maxrss))
                    self.mark_changed(terminal.number)
                    self.report_to_viewers(terminal.number, b"exited\n")

    def add_grant(self, terminal: HostedTerminal, token: str, rule: str) -> None:
        """Let a viewer with this token type into the terminal. Raises ValueError if there are too many."""
        if len(self.grants) >= _MAX_GRANTS:
            raise ValueError("too many grants")
        self.grants[token] = terminal.number
        terminal.size_rule = rule or terminal.size_rule

    def remove_grant(self, token: str) -> None:
        self.grants.pop(token, None)

    def add_viewer(self, fd: int, viewer: ViewerClient) -> None:
        self.viewers[fd] = viewer
        self._count_viewers(viewer.number)

    def remove_viewer(self, fd: int) -> None:
        viewer = self.viewers.pop(fd)
        self._count_viewers(viewer.number)
        if terminal := self.terminals.get(viewer.number):
            self.apply_viewer_size(terminal)

    def _count_viewers(self, number: int) -> None:
        if terminal := self.terminals.get(number):
            terminal.viewer_count = len(self.list_viewers(number))
            self.mark_changed(number)

    def list_viewers(self, number: int) -> list[ViewerClient]:
        return [viewer for viewer in self.viewers.values() if viewer.number == number]

    def report_to_viewers(self, number: int, message: bytes) -> None:
        for viewer in self.list_viewers(number):
            viewer.add_message(message)

    def note_typing(self, terminal: HostedTerminal, viewer: ViewerClient) -> None:
        now = time_ns()
        viewer.typed_at = now
        if now - terminal.typed_at > _TYPING_REPORT_NS:
            self.mark_changed(terminal.number)
        terminal.typed_at = now
        if terminal.size_rule == "latest":
            self.apply_viewer_size(terminal)

    def apply_viewer_size(self, terminal: HostedTerminal) -> None:
        size = choose_size(self.list_viewers(terminal.number), terminal.size_rule)
        if size is None or size[:2] == (terminal.rows, terminal.columns):
            return
        try:
            terminal.resize(*size)
        except OSError:
            return  # its last process has gone
        self.mark_changed(terminal.number)
        self.report_to_viewers(terminal.number, b"size %d %d\n" % size[:2])

    def flush_keys(self, viewer: ViewerClient) -> None:
        """Type what waits; if the terminal is full, wait for room and read no more keys meanwhile."""
        terminal = self.terminals.get(viewer.number)
        if terminal is None:
            viewer.pending_keys = b""
            return
        try:
            written = terminal.write_unguarded(viewer.pending_keys)
        except OSError:
            written = len(viewer.pending_keys)  # no process has the terminal open any more
        viewer.pending_keys = viewer.pending_keys[written:]
        if viewer.pending_keys and terminal.master not in self._blocked_masters:
            self._poller.add_writer(terminal.master)
            self._blocked_masters[terminal.master] = terminal.number

    def note_room(self, master: int) -> None:
        """Continue typing into a terminal that was full."""
        number = self._blocked_masters[master]
        self._stop_waiting_for_room(master)
        for viewer in self.list_viewers(number):
            self.flush_keys(viewer)

    def is_blocked_master(self, fd: int) -> bool:
        return fd in self._blocked_masters

    def compute_timeout(self) -> float | None:
        deadlines = [handoff.deadline for handoff in self.handoffs.values()]
        return max(0.0, min(deadlines) - monotonic()) + 0.01 if deadlines else None

    def _add(self, terminal: HostedTerminal) -> None:
        self.terminals[terminal.number] = terminal
        if terminal.error_fd >= 0:
            self._poller.add(terminal.error_fd)
            self._exec_pipes[terminal.error_fd] = terminal.number

    def _stop_waiting_for_room(self, master: int) -> None:
        if self._blocked_masters.pop(master, None) is not None:
            self._poller.remove(master)

    def _close_handoff(self, fd: int) -> RecorderHandoff:
        handoff = self.handoffs.pop(fd)
        self._poller.remove(fd)
        handoff.close()
        return handoff
