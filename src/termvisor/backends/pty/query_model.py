"""A terminal without a screen, for machines that libghostty-vt does not run on: it only answers programs' queries."""

import re

from termvisor.backends.pane_source import PaneCapture
from termvisor.backends.pty.terminal_model import (
    CELL_HEIGHT,
    CELL_WIDTH,
    DEFAULT_BACKGROUND,
    DEFAULT_FOREGROUND,
    answer_unknown_sequence,
)

_SEQUENCE = re.compile(rb"\x1b(?:\[([0-?]*)([ -/]*[@-~])|\]([^\x07\x1b]{0,4000})(\x07|\x1b\\))")
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]{0,4000}\x1b?)?\Z")
_MAX_TITLE_BYTES = 4096


class QueryOnlyModel:
    """Keeps the modes and the title; its screen is empty."""

    def __init__(self, columns: int, rows: int):
        self._columns, self._rows = columns, rows
        self._modes: set[int] = {7, 25}
        self._rest = b""
        self.title = ""

    @property
    def is_alternate(self) -> bool:
        return bool(self._modes & {47, 1047, 1049})

    def feed(self, data: bytes) -> bytes:
        data = self._rest + data
        unfinished = _UNFINISHED.search(data)
        self._rest = unfinished.group() if unfinished else b""
        answers = bytearray()
        for match in _SEQUENCE.finditer(data, 0, len(data) - len(self._rest)):
            parameters, final, text, terminator = match.groups()
            answers += self._answer_control(parameters, final) if final else self._answer_osc(text, terminator)
        return bytes(answers)

    def resize(self, columns: int, rows: int) -> None:
        self._columns, self._rows = columns, rows

    def read_screen(self, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        return PaneCapture(rows=("",) * self._rows, width=self._columns, height=self._rows, alternate=self.is_alternate)

    def is_mode_set(self, number: int) -> bool:
        return number in self._modes

    def encode_state(self) -> bytes:
        return b"".join(b"\x1b[?%dh" % mode for mode in sorted(self._modes)) + f"\x1b]2;{self.title}\x1b\\".encode()

    def close(self) -> None:
        """Do nothing: there is no native memory."""

    def _answer_control(self, parameters: bytes, final: bytes) -> bytes:
        if final in b"hl" and parameters.startswith(b"?"):
            numbers = {int(word) for word in parameters[1:].split(b";") if word.isdigit()}
            self._modes = self._modes | numbers if final == b"h" else self._modes - numbers
            return b""
        rows, columns = self._rows, self._columns
        fixed = {
            (b"", b"c"): b"\x1b[?62;22c",
            (b"0", b"c"): b"\x1b[?62;22c",
            (b">", b"c"): b"\x1b[>1;10;0c",
            (b">0", b"c"): b"\x1b[>1;10;0c",
            (b"5", b"n"): b"\x1b[0n",
            (b"?996", b"n"): b"\x1b[?997;1n",
            (b"?", b"u"): b"\x1b[?0u",
            (b"14", b"t"): b"\x1b[4;%d;%dt" % (rows * CELL_HEIGHT, columns * CELL_WIDTH),
            (b"18", b"t"): b"\x1b[8;%d;%dt" % (rows, columns),
        }
        return fixed.get((parameters, final), b"")

    def _answer_osc(self, text: bytes, terminator: bytes) -> bytes:
        number, _, value = text.partition(b";")
        if number in (b"0", b"2"):
            self.title = value[:_MAX_TITLE_BYTES].decode("utf-8", "replace")
        if number in (b"10", b"11") and value == b"?":
            color = DEFAULT_FOREGROUND if number == b"10" else DEFAULT_BACKGROUND
            words = "/".join(f"{part:02x}{part:02x}" for part in color)
            return b"\x1b]%b;rgb:%b%b" % (number, words.encode(), terminator)
        return answer_unknown_sequence("osc", text)
