"""Run the PTY host: a single thread starts programs, types text on request, and waits for their ends.

It never blocks and never reads a terminal. Programs, the recorder's logs and exit statuses do not depend on a daemon
being alive; if the host itself is killed, programs continue and are still recorded, but nothing can be typed.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import resource
import sys

from termvisor.pty_host import startup
from termvisor.pty_host.child import MAX_DESCRIPTORS
from termvisor.pty_host.clients import DaemonClient, HostClient, SlowClientError, ViewerClient
from termvisor.pty_host.poller import HostPoller
from termvisor.pty_host.requests import HostRequestHandler
from termvisor.pty_host.startup import EXIT_ALREADY_RUNNING, PROTOCOL_VERSION, HostOptions, parse_arguments
from termvisor.pty_host.terminal_table import TerminalTable
from termvisor.recorder.segment_log import make_folder
from termvisor.recorder.sockets import ConnectionAcceptor, SeqpacketChannel, close_descriptors, open_server_socket

_MAX_MESSAGES_PER_TURN = 32


class PtyHost:
    """The event loop of the host process; ``wake_fd`` becomes readable on SIGCHLD and SIGTERM."""

    def __init__(self, options: HostOptions, server: _socket.socket, wake_fd: int, limits: tuple[int, int]):
        self._options, self._wake_fd = options, wake_fd
        self._limits = limits
        self._poller = HostPoller()
        self._table = TerminalTable(options, self._poller)
        self._requests = HostRequestHandler(self._table, *limits)
        self._acceptor = ConnectionAcceptor(server, self._poller)
        self._daemons: dict[int, DaemonClient] = {}
        self._awaited_starts: dict[int, tuple[int, str]] = {}
        self._poller.add(wake_fd)

    def restore_state(self, state: startup.HostState) -> None:
        self._table.next_number = state.next_number
        for row in state.terminals:
            self._table.restore(row)
        for row in state.grants:
            self._table.grants[row["token"]] = int(row["number"])
        for fd in state.pending_fds:
            self._acceptor.add_connection(_socket.socket(fileno=fd))
        # A child may have exited while the program was replaced.
        self._table.reap_children()

    def run(self) -> None:
        while not self._requests.is_stopping:
            for fd in self._poller.wait(self._compute_timeout()):
                self._handle_ready(fd)
            self._acceptor.close_expired()
            for handoff in self._table.list_expired_handoffs():
                self._answer_handoff(handoff.requester, "timeout")
            self._flush_all()
            if self._requests.reexec_arguments:
                self._reexec()
        self._flush_all()
        self._acceptor.close(self._options.socket)

    def _compute_timeout(self) -> float | None:
        timeouts = [self._acceptor.compute_timeout(), self._table.compute_timeout()]
        return min((each for each in timeouts if each is not None), default=None)

    def _handle_ready(self, fd: int) -> None:
        # If an earlier event of this turn closed the descriptor, no branch matches.
        if fd in self._daemons:
            self._read_client(fd, self._daemons[fd])
        elif fd in self._table.viewers:
            self._read_client(fd, self._table.viewers[fd])
        elif fd in self._table.handoffs:
            self._finish_handoff(fd)
        elif self._table.is_blocked_master(fd):
            self._table.note_room(fd)
        elif self._table.is_exec_pipe(fd):
            if requester := self._awaited_starts.pop(self._table.note_exec_result(fd), None):
                self._answer_handoff(requester, "ok")
        elif fd in self._acceptor.pending:
            self._receive_first_message(fd, self._acceptor.pending[fd])
        elif fd == self._acceptor.server_socket.fileno():
            self._acceptor.accept_connections()
        elif fd == self._wake_fd:
            self._handle_signals()

    def _handle_signals(self) -> None:
        numbers = posix.read(self._wake_fd, 4096)
        self._table.reap_children()
        if _signal.SIGTERM in numbers and not any(each.state != "exited" for each in self._table.terminals.values()):
            self._requests.is_stopping = True

    def _receive_first_message(self, fd: int, channel: SeqpacketChannel) -> None:
        """Handle the first message of a connection, which says who it is."""
        try:
            lines, fds = channel.receive()
        except BlockingIOError:
            return
        except EOFError:
            self._acceptor.close_connection(fd)
            return
        close_descriptors(fds)
        verb, *words = lines[0].split(b" ") if lines else [b""]
        if verb == b"daemon" and words == [b"%d" % PROTOCOL_VERSION]:
            self._daemons[fd] = DaemonClient(self._acceptor.release_connection(fd), self._table.terminals)
        elif verb == b"viewer" and len(words) == 2 and words[0] == b"%d" % PROTOCOL_VERSION:
            self._add_viewer(fd, words[1].decode("ascii", "replace"))
        else:
            try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
                channel.send(b"version %d\n" % PROTOCOL_VERSION)
            except OSError:
                pass  # the client hung up
            self._acceptor.close_connection(fd)

    def _add_viewer(self, fd: int, token: str) -> None:
        number = self._table.grants.get(token)
        if number is None or number not in self._table.terminals:
            self._acceptor.close_connection(fd)
            return
        terminal = self._table.terminals[number]
        viewer = ViewerClient(self._acceptor.release_connection(fd), number)
        viewer.add_message(b"stream %b\n" % (terminal.stream.encode() or b"-"))
        if terminal.state == "exited":
            viewer.add_message(b"exited\n")
        self._table.add_viewer(fd, viewer)

    def _read_client(self, fd: int, client: HostClient) -> None:
        for _ in range(_MAX_MESSAGES_PER_TURN):
            try:
                lines, fds = client.channel.receive()
            except BlockingIOError:
                return
            except EOFError:
                self._drop_client(fd)
                return
            try:
                for line in lines:
                    self._execute_line(fd, client, line, fds)
            except (ValueError, IndexError, UnicodeError, OverflowError, SlowClientError, OSError):
                # Not our client, or one that does not read its answers.
                self._drop_client(fd)
                return
            finally:
                close_descriptors(fds)

    def _execute_line(self, fd: int, client: HostClient, line: bytes, fds: list[int]) -> None:
        if isinstance(client, ViewerClient):
            self._requests.execute_viewer(client, line)
        elif (answer := self._requests.execute(fd, line, fds)) is not None:
            client.add_message(answer)

    def _finish_handoff(self, fd: int) -> None:
        if (finished := self._table.finish_handoff(fd)) is None:
            return
        handoff, result = finished
        terminal = self._table.terminals.get(handoff.number)
        if result == "ok" and terminal is not None and terminal.error_fd >= 0:
            # Answered when the program runs, so that the client finds the program and not our child.
            self._awaited_starts[handoff.number] = handoff.requester
        else:
            self._answer_handoff(handoff.requester, result)

    def _answer_handoff(self, requester: tuple[int, str], result: str) -> None:
        client = self._daemons.get(requester[0])
        if client is None:
            return
        text = "ok" if result == "ok" else f"refused recorder {result}"
        try:
            client.add_message(f"{requester[1]} {text}\n".encode())
        except SlowClientError:
            self._drop_client(requester[0])

    def _drop_client(self, fd: int) -> None:
        client: HostClient | None = self._daemons.pop(fd, None) or self._table.viewers.get(fd)
        if client is None:
            return
        self._poller.remove(fd)
        client.channel.close()
        if isinstance(client, ViewerClient):
            self._table.remove_viewer(fd)

    def _flush_all(self) -> None:
        changed, self._table.changed = self._table.changed, {}
        for client in self._daemons.values():
            for number in changed:
                client.mark_changed(number)
        for fd, each in [*self._daemons.items(), *self._table.viewers.items()]:
            try:
                is_waiting = not each.flush()
            except OSError:
                # The client is gone.
                self._drop_client(fd)
                continue
            if is_waiting != each.is_waiting_to_write:
                self._poller.set_write_interest(fd, is_waiting)
                each.is_waiting_to_write = is_waiting

    def _reexec(self) -> None:
        arguments, self._requests.reexec_arguments = self._requests.reexec_arguments, b""
        if self._table.handoffs:
            # The recorder's answers would be lost. They arrive within seconds.
            self._requests.reexec_arguments = arguments
            return
        python, _, root = arguments.decode("utf-8", "surrogateescape").partition("\t")
        state = startup.HostState(self._acceptor.server_socket.fileno(), self._table.next_number, *self._limits)
        state.pending_fds = list(self._acceptor.pending)
        state.terminals = [terminal.format_handover() for terminal in self._table.terminals.values()]
        state.grants = [{"token": token, "number": str(number)} for token, number in self._table.grants.items()]
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGTERM, _signal.SIGCHLD])
        try:
            startup.replace_process(self._options.build_command(python, root or sys.path[0]), state)
        except (OSError, ValueError) as error:
            # exec failed and nothing has changed, so this version continues.
            for client in self._daemons.values():
                client.add_message(b"failed reexec %d\n" % (getattr(error, "errno", 0) or 0))
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGTERM, _signal.SIGCHLD])


def _create_wake_pipe() -> int:
    """Return a descriptor from which the numbers of caught signals can be read; ignore those of a closing terminal."""
    reader, writer = posix.pipe()
    for fd in (reader, writer):
        posix.set_blocking(fd, False)
    for signal_number in (_signal.SIGPIPE, _signal.SIGHUP, _signal.SIGINT, _signal.SIGXFSZ):
        _signal.signal(signal_number, _signal.SIG_IGN)
    # Python writes to the wake-up descriptor only if the signal has a handler, even one that does nothing.
    for signal_number in (_signal.SIGTERM, _signal.SIGCHLD):
        _signal.signal(signal_number, lambda signal_number, frame: None)
    _signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGTERM, _signal.SIGCHLD])
    return reader


def _raise_descriptor_limit() -> int:
    """Allow as many terminals as possible; return the limit that programs get."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    return soft


def main() -> None:
    options, state_fd = parse_arguments(sys.argv[1:])
    wake_fd = _create_wake_pipe()
    umask = posix.umask(0o077)
    descriptor_limit = _raise_descriptor_limit()
    make_folder(options.result_dir)
    if state_fd is not None:
        state = startup.read_state(state_fd)
        limits = (state.umask, state.descriptor_limit)
        host = PtyHost(options, _socket.socket(fileno=state.server_fd), wake_fd, limits)
        host.restore_state(state)
    else:
        server = open_server_socket(options.socket)
        if server is None:
            raise SystemExit(EXIT_ALREADY_RUNNING)
        host = PtyHost(options, server, wake_fd, (umask, descriptor_limit))
    host.run()
