"""Run the recorder: a single thread copies bytes from pipes to files and reports progress to the daemon.

It never blocks: a pipe that is not read makes tmux's memory grow, so a slow daemon, a full disk or a silent
connection must not stop the other streams. Without a daemon it continues up to a limit of unreported bytes.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import fcntl
import posix
import resource
import sys
from time import monotonic, sleep  # noqa: TID251 - the recorder cannot import termvisor.clock

from termvisor.recorder import sockets, startup
from termvisor.recorder.daemon_connection import DaemonConnection
from termvisor.recorder.pane_streams import StreamTable
from termvisor.recorder.segment_log import FLAG_CAPPED, make_folder
from termvisor.recorder.startup import (
    EXIT_ALREADY_RUNNING,
    EXIT_LOCKED,
    PROTOCOL_VERSION,
    RecorderOptions,
    parse_arguments,
)

_MAX_DESCRIPTORS = 10_240
# A recorder that is stopping writes its end records first.
_LOCK_TIMEOUT_S = 2.0


class Recorder:
    """The event loop of the recorder process; ``wake_fd`` becomes readable on SIGTERM, ``lock_fd`` holds the lock."""

    def __init__(self, options: RecorderOptions, server: _socket.socket, wake_fd: int, lock_fd: int):
        self._options, self._lock_fd = options, lock_fd
        self._poller = sockets.Poller()
        self._table = StreamTable(options, self._poller)
        self._acceptor = sockets.ConnectionAcceptor(server, self._poller)
        self._daemon: DaemonConnection | None = None
        self._is_daemon_slow = False
        self._unreported_bytes = 0
        self._is_stopping = False
        self._reexec_command: list[str] = []
        self._wake_fd = wake_fd
        self._poller.add(wake_fd)

    def restore_state(self, state: startup.HandoverState) -> None:
        self._unreported_bytes = state.unreported_bytes
        for row in state.open_streams:
            self._table.resume_stream(*row)
        for ended in state.closed_streams:
            self._table.restore_closed_stream(*ended)
        for fd in state.pending_fds:
            self._acceptor.add_connection(_socket.socket(fileno=fd))

    def run(self) -> None:
        while not self._is_stopping:
            for fd in self._poller.wait(self._acceptor.compute_timeout()):
                self._handle_ready(fd)
            self._acceptor.close_expired()
            self._report_changes()
            # Without a daemon nothing trims the raw log, so the recorder limits what it writes on its own.
            if self._unreported_bytes > self._options.cap_bytes and self._table.streams_by_fd:
                self._table.close_all(FLAG_CAPPED)
                self._report_changes()
            if self._reexec_command and not self._is_stopping:
                self._reexec()
        self._table.drop_all()
        self._report_changes()
        self._acceptor.close(self._options.socket)

    def _handle_ready(self, fd: int) -> None:
        # If an earlier event of this turn closed the descriptor, no branch matches.
        if fd in self._table.streams_by_fd:
            self._table.pump_stream(fd)
        elif self._daemon and fd == self._daemon.channel.fileno():
            self._read_commands(self._daemon.channel)
        elif fd in self._acceptor.pending:
            self._receive_first_message(fd, self._acceptor.pending[fd])
        elif fd == self._acceptor.server_socket.fileno():
            self._acceptor.accept_connections()
        elif fd == self._wake_fd:
            self._is_stopping = True

    def _receive_first_message(self, fd: int, channel: sockets.SeqpacketChannel) -> None:
        """Handle the first message of a connection. Only a `listen` connection (the daemon's) stays open."""
        try:
            lines, fds = channel.receive()
        except BlockingIOError:
            return
        except EOFError:
            self._acceptor.close_connection(fd)
            return
        verb, _, rest = lines[0].partition(b" ") if lines else (b"", b"", b"")
        if verb == b"hold":
            is_full = self._unreported_bytes > self._options.cap_bytes
            self._send_answer(
                channel, self._table.refuse(fds, b"cap") if is_full else self._table.hold_stream(rest, fds)
            )
        else:
            sockets.close_descriptors(fds)
        if verb == b"listen" and rest == b"%d" % PROTOCOL_VERSION:
            self._detach_daemon()
            self._daemon = DaemonConnection(self._acceptor.release_connection(fd), self._table.streams_by_epoch)
            return
        if verb == b"listen":
            self._send_answer(channel, b"version %d" % PROTOCOL_VERSION)
        self._acceptor.close_connection(fd)

    @staticmethod
    def _send_answer(channel: sockets.SeqpacketChannel, text: bytes) -> None:
        try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
            channel.send(text + b"\n")
        except OSError:
            # The client hung up, but its request has been carried out.
            pass

    def _detach_daemon(self) -> None:
        if self._daemon:
            self._poller.remove(self._daemon.channel.fileno())
            self._daemon.channel.close()
            self._daemon, self._is_daemon_slow = None, False

    def _read_commands(self, channel: sockets.SeqpacketChannel) -> None:
        try:
            lines, fds = channel.receive()
        except BlockingIOError:
            return
        except EOFError:
            self._detach_daemon()
            return
        sockets.close_descriptors(fds)
        for line in lines:
            verb, _, rest = line.partition(b" ")
            self._execute_command(verb, rest)

    def _execute_command(self, verb: bytes, rest: bytes) -> None:
        if verb == b"quit":
            self._is_stopping = True
        elif verb == b"reexec":
            python, _, root = rest.decode("utf-8", "surrogateescape").partition("\t")
            self._reexec_command = self._options.build_command(python, root or sys.path[0])
        elif verb == b"drop" and rest.isdigit():
            self._table.drop_stream(int(rest))
        elif verb == b"forget" and rest.isdigit() and self._table.forget_stream(int(rest)) and self._daemon:
            self._daemon.forget_stream(int(rest))

    def _report_changes(self) -> None:
        self._unreported_bytes += self._table.unreported_bytes
        changed, self._table.changed_epochs, self._table.unreported_bytes = self._table.changed_epochs, {}, 0
        if not self._daemon:
            return
        for epoch in changed:
            self._daemon.mark_changed(epoch)
        try:
            is_slow = not self._daemon.flush()
        except OSError:
            # The daemon died. Recording continues, and the next daemon gets the whole state.
            self._detach_daemon()
            return
        if is_slow != self._is_daemon_slow:
            self._poller.set_write_interest(self._daemon.channel.fileno(), is_slow)
            self._is_daemon_slow = is_slow
        if not is_slow:
            self._unreported_bytes = 0

    def _reexec(self) -> None:
        state = startup.HandoverState(
            self._acceptor.server_socket.fileno(), self._unreported_bytes, list(self._acceptor.pending)
        )
        state.lock_fd = self._lock_fd
        for stream in self._table.streams_by_epoch.values():
            if stream.close_flag:
                state.closed_streams.append((stream.pane, stream.epoch, stream.size, stream.close_flag))
            else:
                state.open_streams.append((stream.pane, stream.epoch, stream.fd, stream.size, stream.writer.last_at))
        command, self._reexec_command = self._reexec_command, []
        # Blocked until the new program installs its handler: a SIGTERM in between would lose the end records.
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGTERM])
        try:
            # A SIGTERM received before that is in the wake pipe, which exec discards, so stop instead.
            if self._wake_fd not in self._poller.wait(0):
                startup.replace_process(command, state)
        except OSError as error:
            # exec failed and nothing has changed, so this version continues recording.
            if self._daemon:
                self._send_answer(self._daemon.channel, b"failed reexec %d" % (error.errno or 0))
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGTERM])


def _create_wake_pipe() -> int:
    """Return a descriptor that becomes readable on SIGTERM, and ignore the signals of a closing terminal."""
    reader, writer = posix.pipe()
    posix.set_blocking(writer, False)
    for signal_number in (_signal.SIGPIPE, _signal.SIGHUP, _signal.SIGINT, _signal.SIGXFSZ):
        _signal.signal(signal_number, _signal.SIG_IGN)
    # Python writes to the wake-up descriptor only if the signal has a handler, even one that does nothing.
    _signal.signal(_signal.SIGTERM, lambda signal_number, frame: None)
    _signal.set_wakeup_fd(writer)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGTERM])
    return reader


def _raise_descriptor_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS refuses "unlimited".
    soft = hard if hard != resource.RLIM_INFINITY else _MAX_DESCRIPTORS
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def main() -> None:
    options, state_fd = parse_arguments(sys.argv[1:])
    wake_fd = _create_wake_pipe()
    posix.umask(0o077)
    _raise_descriptor_limit()
    if state_fd is not None:
        state = startup.read_state(state_fd)
        # A version without the lock leaves none. If it cannot be taken now, recording is still more important.
        lock_fd = state.lock_fd if state.lock_fd >= 0 else try_lock(options)
        recorder = Recorder(options, _socket.socket(fileno=state.server_fd), wake_fd, lock_fd)
        recorder.restore_state(state)
    else:
        lock_fd = _wait_for_lock(options)
        server = sockets.open_server_socket(options.socket)
        if server is None:
            raise SystemExit(EXIT_ALREADY_RUNNING)
        recorder = Recorder(options, server, wake_fd, lock_fd)
    recorder.run()


def try_lock(options: RecorderOptions) -> int:
    """Return a descriptor that holds the lock of the raw log while it is open, or -1 if another recorder holds it."""
    make_folder(options.raw_dir)
    fd = posix.open(startup.get_lock_path(options.raw_dir), posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Held by another process.
        posix.close(fd)
        return -1
    posix.ftruncate(fd, 0)
    posix.write(fd, b"%d\n%b\n" % (posix.getpid(), options.socket.encode("utf-8", "surrogateescape")))
    return fd


def _read_holder_socket(options: RecorderOptions) -> str:
    fd = posix.open(startup.get_lock_path(options.raw_dir), posix.O_RDONLY)
    try:
        return posix.read(fd, 4096).partition(b"\n")[2].strip().decode("utf-8", "surrogateescape")
    finally:
        posix.close(fd)


def _wait_for_lock(options: RecorderOptions) -> int:
    """Lock the raw log, waiting shortly for a recorder that is exiting. Exit if another one keeps writing it."""
    deadline = monotonic() + _LOCK_TIMEOUT_S
    while (fd := try_lock(options)) < 0:
        if sockets.is_recorder_listening(options.socket):
            raise SystemExit(EXIT_ALREADY_RUNNING)
        if monotonic() > deadline or sockets.is_recorder_listening(_read_holder_socket(options)):
            raise SystemExit(EXIT_LOCKED)
        sleep(0.01)
    return fd
