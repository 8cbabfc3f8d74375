"""The recorder: one thread that moves bytes from pipes to files and tells the daemon how far it is.

It thinks nothing and never waits for anybody: a pipe that is not read makes tmux grow, so neither a slow listener
nor a full disk nor a silent connection may stop the others. It needs no daemon, up to a cap of bytes nobody heard of.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import resource
import sys

from termvisor.recorder import reexec as handover
from termvisor.recorder.acceptor import Reception, open_server
from termvisor.recorder.daemon_connection import Listener
from termvisor.recorder.options import ALREADY_RUNNING, PROTOCOL, Options, parse
from termvisor.recorder.poller import Poller
from termvisor.recorder.segment_log import CAPPED
from termvisor.recorder.seqpacket import Channel, close_all
from termvisor.recorder.stream_table import Table

_MANY_DESCRIPTORS = 10_240


class Recorder:
    """``wake`` becomes readable when it is to end."""

    def __init__(self, options: Options, server: _socket.socket, wake: int):
        self._options = options
        self._poller = Poller()
        self._table = Table(options, self._poller)
        self._reception = Reception(server, self._poller)
        self._listener: Listener | None = None
        self._is_slow = False
        self._unheard = 0
        self._is_over = False
        self._successor: list[str] = []
        self._wake = wake
        self._poller.add(wake)

    def restore(self, state: handover.State) -> None:
        self._unheard = state.unheard
        for row in state.open:
            self._table.resume(*row)
        for ended in state.closed:
            self._table.remember(*ended)
        for fd in state.waiting:
            self._reception.admit(_socket.socket(fileno=fd))

    def run(self) -> None:
        while not self._is_over:
            for fd in self._poller.wait(self._reception.patience()):
                self._serve(fd)
            self._reception.expire()
            self._tell()
            if self._unheard > self._options.cap_bytes and self._table.by_fd:
                self._table.cut_all(CAPPED)
                self._tell()
            if self._successor and not self._is_over:
                self._hand_over()
        self._leave()

    def _serve(self, fd: int) -> None:
        # An earlier event of this turn may have closed the descriptor: then nobody is found for it.
        if fd in self._table.by_fd:
            self._table.pump(fd)
        elif self._listener and fd == self._listener.channel.fileno():
            self._hear(self._listener.channel)
        elif fd in self._reception.waiting:
            self._receive(fd, self._reception.waiting[fd])
        elif fd == self._reception.server.fileno():
            self._reception.accept()
        elif fd == self._wake:
            self._is_over = True

    def _receive(self, fd: int, channel: Channel) -> None:
        """The first and only message of a connection that does not listen."""
        try:
            lines, fds = channel.receive()
        except BlockingIOError:
            return
        except EOFError:
            self._reception.dismiss(fd)
            return
        verb, _, rest = lines[0].partition(b" ") if lines else (b"", b"", b"")
        if verb == b"hold":
            self._answer(channel, self._hold(rest, fds))
        else:
            close_all(fds)
        if verb == b"listen" and rest == b"%d" % PROTOCOL:
            self._listen(self._reception.release(fd))
            return
        if verb == b"listen":
            self._answer(channel, b"version %d" % PROTOCOL)
        self._reception.dismiss(fd)

    def _hold(self, name: bytes, fds: list[int]) -> bytes:
        if self._unheard > self._options.cap_bytes:
            close_all(fds)
            return b"refused cap"
        return self._table.hold(name, fds)

    @staticmethod
    def _answer(channel: Channel, text: bytes) -> None:
        try:  # noqa: SIM105 - contextlib alone would cost this process half a megabyte
            channel.send(text + b"\n")
        except OSError:
            pass  # it did not wait; what it asked for is done

    def _listen(self, channel: Channel) -> None:
        self._part()
        self._listener = Listener(channel, self._table.streams)

    def _part(self) -> None:
        if self._listener:
            self._poller.remove(self._listener.channel.fileno())
            self._listener.channel.close()
            self._listener, self._is_slow = None, False

    def _hear(self, channel: Channel) -> None:
        try:
            lines, fds = channel.receive()
        except BlockingIOError:
            return
        except EOFError:
            self._part()
            return
        close_all(fds)
        for line in lines:
            verb, _, rest = line.partition(b" ")
            self._obey(verb, rest)

    def _obey(self, verb: bytes, rest: bytes) -> None:
        if verb == b"quit":
            self._is_over = True
        elif verb == b"reexec":
            python, _, root = rest.decode("utf-8", "surrogateescape").partition("\t")
            self._successor = self._options.command(python, root or sys.path[0])
        elif verb == b"drop" and rest.isdigit():
            self._table.drop(int(rest))
        elif verb == b"forget" and rest.isdigit() and self._table.forget(int(rest)) and self._listener:
            self._listener.forget(int(rest))

    def _tell(self) -> None:
        self._unheard += self._table.written
        news, self._table.news, self._table.written = self._table.news, {}, 0
        if not self._listener:
            return
        for epoch in news:
            self._listener.note(epoch)
        try:
            is_slow = not self._listener.flush()
        except OSError:
            self._part()
            return
        if is_slow != self._is_slow:
            self._poller.want_writable(self._listener.channel.fileno(), is_slow)
            self._is_slow = is_slow
        if not is_slow:
            self._unheard = 0

    def _hand_over(self) -> None:
        state = handover.State(self._reception.server.fileno(), self._unheard, list(self._reception.waiting))
        for stream in self._table.streams.values():
            if stream.closed_by:
                state.closed.append((stream.pane, stream.epoch, stream.size, stream.closed_by))
            else:
                state.open.append((stream.pane, stream.epoch, stream.fd, stream.size, stream.writer.last_at))
        command, self._successor = self._successor, []
        # Blocked until the next image has its handler, or a SIGTERM in between would lose the closing records.
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGTERM])
        try:
            # A SIGTERM that came before that would be forgotten with our memory: it waits in the pipe and wins.
            if self._wake not in self._poller.wait(0):
                handover.become(command, state)
        except OSError as error:
            if self._listener:
                self._answer(self._listener.channel, b"failed reexec %d" % (error.errno or 0))
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGTERM])

    def _leave(self) -> None:
        self._table.drop_all()
        self._tell()
        self._reception.close(self._options.socket)


def _wake_on_sigterm() -> int:
    """A descriptor that becomes readable when we are to end. No other signal of a leaving terminal ends us."""
    reader, writer = posix.pipe()
    posix.set_blocking(writer, False)
    for number in (_signal.SIGPIPE, _signal.SIGHUP, _signal.SIGINT, _signal.SIGXFSZ):
        _signal.signal(number, _signal.SIG_IGN)
    _signal.signal(_signal.SIGTERM, lambda number, frame: None)
    _signal.set_wakeup_fd(writer)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGTERM])
    return reader


def _allow_many_descriptors() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = hard if hard != resource.RLIM_INFINITY else _MANY_DESCRIPTORS
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def main() -> None:
    options, state_fd = parse(sys.argv[1:])
    wake = _wake_on_sigterm()
    posix.umask(0o077)
    _allow_many_descriptors()
    if state_fd is not None:
        state = handover.take(state_fd)
        recorder = Recorder(options, _socket.socket(fileno=state.server), wake)
        recorder.restore(state)
    else:
        server = open_server(options.socket)
        if server is None:
            raise SystemExit(ALREADY_RUNNING)
        recorder = Recorder(options, server, wake)
    recorder.run()
