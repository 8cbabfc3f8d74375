"""The reader's terminal while the live table or the player is on it. Whatever happens, it is given back as it was.

Signals are heard through a pipe, so that one wait hears keys, a changed size and the wish to end.
"""

import os
import select
import signal
import termios
from types import TracebackType

from termvisor.frontends.cli.fast_client import write

_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
_LEAVE = b"\x1b[?7h\x1b[?25h\x1b[?1049l"
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Terminal:
    def __init__(self, source: int = 0, target: int = 1):
        self._source, self._target = source, target
        self.is_over = False

    def __enter__(self) -> "Terminal":
        self._before = termios.tcgetattr(self._source)
        mode = termios.tcgetattr(self._source)
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        mode[6][termios.VSUSP] = mode[6][termios.VMIN] = b"\x00"
        self._wake, self._signalled = os.pipe()
        os.set_blocking(self._signalled, False)
        self._old = {number: signal.signal(number, self._end) for number in _ENDING}
        self._old[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda *_: None)
        self._wakeup = signal.set_wakeup_fd(self._signalled, warn_on_full_buffer=False)
        termios.tcsetattr(self._source, termios.TCSADRAIN, mode)
        write(self._target, _ENTER)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            write(self._target, _LEAVE)
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._before)
        except (OSError, termios.error):
            pass  # the terminal is gone, and with it what we would give back
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._old.items():
            signal.signal(number, handler)
        os.close(self._wake)
        os.close(self._signalled)

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        found = os.get_terminal_size(self._target)
        return found.columns or 80, found.lines or 24

    def show(self, data: bytes) -> None:
        write(self._target, data)

    def wait(self, seconds: float, also: int | None = None) -> bytes | None:
        """Keys, or None when time went by or something else happened; ``also`` is another descriptor to listen to."""
        heard = [self._source, self._wake, *([] if also is None else [also])]
        ready, _, _ = select.select(heard, [], [], max(0.0, seconds))
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._source not in ready:
            return None
        data = os.read(self._source, 4096)
        self.is_over = self.is_over or not data
        return data

    def _end(self, *_signal: object) -> None:
        self.is_over = True
