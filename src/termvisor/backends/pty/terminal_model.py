"""The contract of a terminal emulator (`TerminalModel`): bytes in; screen, modes and answers to queries out.

Programs ask their terminal what it can do, and wait for the answer: the model answers, its owner types the answers
into the terminal. A model never reads or writes a terminal itself.
"""

from collections.abc import Callable
from typing import Protocol

from termvisor.backends.pane_source import PaneCapture

DEFAULT_FOREGROUND, DEFAULT_BACKGROUND = (0xE5, 0xE5, 0xE5), (0x1E, 0x1E, 0x1E)
CELL_WIDTH, CELL_HEIGHT = 8, 16
"""Pixels of a cell that programs are told, when they ask for the size of the terminal in pixels."""
_STATUS_PROBE = b"7501;?"
STATUS_PROBE_ANSWER = b"\x1b]7501;?\x1b\\"
"""Tells a program that its status reports (OSC 7501) are read."""


class TerminalModel(Protocol):
    """The state of one terminal. Every method may be called with any bytes at any time."""

    @property
    def title(self) -> str:
        """Return the title that the program has set."""

    @property
    def is_alternate(self) -> bool:
        """Return True if the alternate screen is shown."""

    def feed(self, data: bytes) -> bytes:
        """Process output of the program; return what the terminal answers to it."""

    def resize(self, columns: int, rows: int) -> None:
        """Change the size; rows of the main screen are wrapped again."""

    def read_screen(self, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        """Return the screen after up to ``lines`` lines of scrollback; wrapped rows are joined."""

    def is_mode_set(self, number: int) -> bool:
        """Return True if a DEC private mode is set, such as 2004 for bracketed paste."""

    def encode_state(self) -> bytes:
        """Return bytes that bring an empty terminal of the same size to this state."""

    def close(self) -> None:
        """Free the memory."""


ModelFactory = Callable[[int, int], TerminalModel]
"""Builds a model with this number of columns and rows."""


def answer_unknown_sequence(kind: str, content: bytes) -> bytes:
    """Return the answer to a sequence that the emulator does not know; empty if there is none."""
    return STATUS_PROBE_ANSWER if kind == "osc" and content == _STATUS_PROBE else b""
