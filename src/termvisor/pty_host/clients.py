"""Connections to the host: daemons, which request and are told every change, and viewers, which type into one terminal.

Reports are built from the terminals when they are sent, so a slow daemon costs one set of numbers. A client that
sends requests and does not read the answers is disconnected.
"""

from __future__ import annotations

import posix

from termvisor.pty_host.startup import PROTOCOL_VERSION, encode_fields
from termvisor.pty_host.terminal import HostedTerminal
from termvisor.recorder.sockets import SeqpacketChannel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_ANSWERS = 512
_ROWS_PER_MESSAGE = 4
MAX_PENDING_KEYS = 1 << 20


class SlowClientError(Exception):
    """The client does not read its answers."""


class HostClient:
    """One connection and the messages that it has not taken yet."""

    def __init__(self, channel: SeqpacketChannel):
        self.channel = channel
        self._answers: list[bytes] = []
        self.is_waiting_to_write = False

    def add_message(self, message: bytes) -> None:
        """Queue a message. Raises SlowClientError if too many are waiting."""
        if len(self._answers) >= _MAX_ANSWERS:
            raise SlowClientError
        self._answers.append(message)

    def flush(self) -> bool:
        """Send what is waiting. Return False if the socket is full. Raises OSError if the client is gone."""
        while self._answers:
            if not self.channel.send(self._answers[0]):
                return False
            del self._answers[0]
        return True


class DaemonClient(HostClient):
    """A connected daemon. It gets all terminals first, then those that change."""

    def __init__(self, channel: SeqpacketChannel, terminals: dict[int, HostedTerminal]):
        super().__init__(channel)
        self._terminals = terminals
        self._changed: dict[int, None] = {}
        self._reports = self._generate_reports()
        self._unsent = b""

    def mark_changed(self, number: int) -> None:
        self._changed[number] = None

    def flush(self) -> bool:
        # Answers after the reports of what they caused would do as well; reports first is what a reader expects.
        while True:
            self._unsent = self._unsent or next(self._reports)
            if not self._unsent:
                return super().flush()
            if not self.channel.send(self._unsent):
                return False
            self._unsent = b""

    def _generate_reports(self) -> Iterator[bytes]:
        yield b"hello %d %d\n" % (PROTOCOL_VERSION, posix.getpid())
        known = sorted(self._terminals)
        while known:
            yield b"".join(map(self._format_terminal, known[:_ROWS_PER_MESSAGE]))
            known = known[_ROWS_PER_MESSAGE:]
        yield b"ready\n"
        while True:
            numbers = list(self._changed)[:_ROWS_PER_MESSAGE]
            yield b"".join(map(self._format_terminal, numbers))

    def _format_terminal(self, number: int) -> bytes:
        self._changed.pop(number, None)
        terminal = self._terminals.get(number)
        if terminal is None:
            return b"gone %d\n" % number
        return b"terminal %d %b\n" % (number, encode_fields(terminal.format_row()))


class ViewerClient(HostClient):
    """A person's terminal that shows one of ours: its size, when it typed last, and keys that wait for room."""

    def __init__(self, channel: SeqpacketChannel, number: int):
        super().__init__(channel)
        self.number = number
        self.size: tuple[int, int, int, int] | None = None
        self.typed_at = 0
        self.pending_keys = b""


def choose_size(viewers: list[ViewerClient], rule: str) -> tuple[int, int, int, int] | None:
    """Return the size that a terminal gets from its viewers: that of the one who typed last, or the smallest."""
    sizes = [(viewer.typed_at, viewer.size) for viewer in viewers if viewer.size is not None]
    if not sizes:
        return None
    if rule == "latest":
        return max(sizes, key=lambda each: each[0])[1]
    rows, columns = min(size[0] for _, size in sizes), min(size[1] for _, size in sizes)
    cell_sizes = [size for _, size in sizes if (size[0], size[1]) == (rows, columns)]
    return cell_sizes[0] if cell_sizes else (rows, columns, 0, 0)
