"""The terminal of the person who attached: raw mode, its size, and its state before and after."""

import contextlib
import os
import select
import signal
import termios
import tty
from collections.abc import Iterator

# Everything that a program may have switched on: mouse, focus, paste, keyboard protocols, margins, colours, cursor.
RESTORE_SEQUENCE = (
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1004l\x1b[?2004l\x1b[?2026l"
    b"\x1b[?2031l\x1b[?2048l\x1b[<99u\x1b[=0;1u\x1b[>4;0m\x1b[?1l\x1b>\x1b[?1049l\x1b[<99u\x1b[?6l\x1b[?69l\x1b[r"
    b"\x1b[?7h\x1b[4l\x1b[20l\x1b(B\x0f\x1b[0m\x1b[0 q\x1b[?25h\x1b[?12l\x1b]8;;\x1b\\\x1b]104\x1b\\\x1b]110\x1b\\"
    b"\x1b]111\x1b\\\x1b]112\x1b\\\x1b[23;0t"
)
_KEEP_TITLE = b"\x1b[22;0t"


class PersonTerminal:
    """Standard input and output. ``size_fd`` becomes readable when the size changes or a signal asks to leave."""

    def __init__(self) -> None:
        self.size_fd, self._wake_fd = os.pipe()
        self.is_leaving = False
        self._blocked = b""

    @contextlib.contextmanager
    def prepare(self) -> Iterator[None]:
        """Put the terminal into raw mode, and restore all of it at the end, however that comes."""
        saved = termios.tcgetattr(0)
        self._install_handlers()
        try:
            tty.setraw(0, termios.TCSAFLUSH)
            rows = self.read_size()[0]
            # What the terminal shows moves to its scrollback.
            self.write(_KEEP_TITLE + b"\r\n" * rows + b"\x1b[H\x1b[2J")
            yield
        finally:
            with contextlib.suppress(OSError):
                self.write(RESTORE_SEQUENCE + b"\x1b[%d;1H\r\n" % self.read_size()[0])
            with contextlib.suppress(termios.error):
                # Flushed: late answers and mouse reports must not reach the shell.
                termios.tcsetattr(0, termios.TCSAFLUSH, saved)

    def read_size(self) -> tuple[int, int]:
        """Return the rows and columns."""
        try:
            size = os.get_terminal_size(0)
        except OSError:
            # The terminal has just been closed.
            return 24, 80
        return size.lines or 24, size.columns or 80

    def write(self, data: bytes) -> None:
        """Write all bytes. Raises OSError if the terminal is gone."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(1, rest) :]
            except BlockingIOError:
                # Another program left the terminal non-blocking, and it is full.
                select.select([], [1], [])

    def read_signals(self) -> None:
        os.read(self.size_fd, 1024)

    def _install_handlers(self) -> None:
        for number in (signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, self._note_signal)

    def _note_signal(self, number: int, frame: object) -> None:
        self.is_leaving = self.is_leaving or number != signal.SIGWINCH
        os.write(self._wake_fd, b"s")
