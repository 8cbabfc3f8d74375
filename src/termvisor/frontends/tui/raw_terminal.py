"""Use the terminal in raw mode on the alternate screen, always restore it, and decode its keys.

Signals write to a pipe, so that a single `select` waits for keys, resizing and termination.
"""

import os
import re
import select
import signal
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType

from termvisor.frontends.cli.fast_client import write_all

_ENTER_SCREEN = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
_LEAVE_SCREEN = b"\x1b[?7h\x1b[?25h\x1b[?1049l"
_EXIT_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
NAVIGATION_KEYS = {
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"\x1b[B": "down",
    b"\x1bOB": "down",
    b"\x1b[5~": "page_up",
    b"\x1b[6~": "page_down",
    b"\x1b[H": "home",
    b"\x1bOH": "home",
    b"\x1b[1~": "home",
    b"g": "home",
    b"q": "quit",
    b"Q": "quit",
    b"\x03": "quit",
}
"""Key names by the bytes that terminals send. In application mode these start with `ESC O` instead of `ESC [`."""
_KEY_PATTERN = re.compile(rb"\x1b(?:\[[0-9;?]*[@-~]|O.)|[^\x1b]|\x1b(?=\x1b)", re.DOTALL)
_UNFINISHED_SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;?]*|O)?$")
# Longer sequences are not keys. Without a limit, the buffer would grow with pasted garbage.
_MAX_SEQUENCE_BYTES = 32


class RawTerminal:
    def __init__(self, source: int = 0, target: int = 1):
        self._source, self._target = source, target
        self.is_closed = False

    def __enter__(self) -> "RawTerminal":
        self._original_mode = termios.tcgetattr(self._source)
        mode = termios.tcgetattr(self._source)
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        # Ctrl-Z would suspend the process with the alternate screen still on. ISIG stays on for Ctrl-C.
        mode[6][termios.VSUSP] = mode[6][termios.VMIN] = b"\x00"
        self._wake_read_fd, self._wake_write_fd = os.pipe()
        # A signal handler must never block on a full pipe. One byte in the pipe is enough.
        os.set_blocking(self._wake_write_fd, False)
        self._original_handlers = {number: signal.signal(number, self._on_exit_signal) for number in _EXIT_SIGNALS}
        # Without a Python handler the signal would not write to the wakeup descriptor.
        self._original_handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda *_: None)
        self._original_wakeup_fd = signal.set_wakeup_fd(self._wake_write_fd, warn_on_full_buffer=False)
        termios.tcsetattr(self._source, termios.TCSADRAIN, mode)
        write_all(self._target, _ENTER_SCREEN)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            write_all(self._target, _LEAVE_SCREEN)
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._original_mode)
        except (OSError, termios.error):
            pass  # the terminal was closed, so there is nothing to restore
        signal.set_wakeup_fd(self._original_wakeup_fd)
        for number, handler in self._original_handlers.items():
            signal.signal(number, handler)
        os.close(self._wake_read_fd)
        os.close(self._wake_write_fd)

    @contextmanager
    def lend(self) -> Iterator[None]:
        """Give the terminal, as it was before, to another program for the duration of the context."""
        self.__exit__(None, None, None)
        try:
            yield
        finally:
            self.__enter__()

    def get_size(self) -> tuple[int, int]:
        """Return the terminal size as (columns, rows)."""
        size = os.get_terminal_size(self._target)
        return size.columns or 80, size.lines or 24

    def write(self, data: bytes) -> None:
        write_all(self._target, data)

    def wait_for_keys(self, seconds: float, extra_fd: int | None = None) -> bytes | None:
        """Return typed keys; None on a timeout, a signal or input on ``extra_fd``."""
        descriptors = [self._source, self._wake_read_fd, *([] if extra_fd is None else [extra_fd])]
        ready, _, _ = select.select(descriptors, [], [], max(0.0, seconds))
        if self._wake_read_fd in ready:
            os.read(self._wake_read_fd, 4096)
        if self._source not in ready:
            return None
        data = os.read(self._source, 4096)
        # No data on a readable descriptor means that the terminal was closed.
        self.is_closed = self.is_closed or not data
        return data

    def _on_exit_signal(self, *_signal: object) -> None:
        self.is_closed = True


class KeyDecoder:
    """Decodes named keys from terminal input. An escape sequence may arrive in pieces."""

    def __init__(self, names: Mapping[bytes, str]) -> None:
        self._keys_by_bytes = names
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Return the names of the keys completed by this data, dropping unknown keys."""
        text = self._rest + data
        unfinished = _UNFINISHED_SEQUENCE.search(text)
        end = unfinished.start() if unfinished else len(text)
        self._rest = text[end:][:_MAX_SEQUENCE_BYTES]
        return [self._keys_by_bytes[key] for key in _KEY_PATTERN.findall(text[:end]) if key in self._keys_by_bytes]
