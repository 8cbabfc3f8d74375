"""Split terminal output into tokens: runs of text, controls and escape sequences.

Chunks may end anywhere; tokens come out in order. Invariant: which token a byte belongs to depends only on the bytes
before it and their times, never on the chunks. A run merely combines what several single tokens would express.

This follows tmux. There are no 8-bit controls. A string ends at ST (an OSC also at BEL), after five seconds, and,
unless it is a DCS, at CAN, SUB or an ESC that begins another sequence. Controls inside a sequence are executed, and the
sequence goes on. A sequence beyond its limit (a string of 64 KB, a CSI of 4 KB) is *lost*: skipped to its end without
being buffered.
"""

import re
from typing import Literal

from msgspec import Struct

from termvisor.terminal.utf8_text import count_hidden, decode_text

STRING_LIMIT = 65536
CSI_LIMIT = 4096
_STRING_TIMEOUT_NS = 5_000_000_000

TokenKind = Literal["run", "moves", "erased", "control", "csi", "esc", "osc", "dcs", "string", "nothing", "lost"]
SequenceKind = Literal["osc", "dcs", "string", "csi", "esc"]
ReadMode = Literal["plain", "any", "marks"]
"""What a run may contain: whole lines (while the cursor is at the end of the text), text and newlines anywhere on the
screen, or everything that is no mark."""


class TerminalToken(Struct, frozen=True, gc=False):
    """``start`` and ``end`` are offsets in the epoch.

    ``text`` holds the characters of a run, with its newlines and colours, or the final byte of a csi or esc; ``data``
    holds the bytes of a run, of moves (consecutive control sequences), of erased text or of a control (possibly
    repeated), a string's payload, or the parameters of a csi or esc. ``controls`` are the control characters inside a
    csi or esc.
    """

    kind: TokenKind
    start: int
    end: int
    text: str = ""
    data: bytes = b""
    controls: bytes = b""


# Repeats are not possessive here: CPython 3.11.0-3.11.4 matches those over groups wrongly (gh-106052).
_RUNS: dict[ReadMode, bytes] = {
    # K and J to the end are harmless here, because in such a run the cursor is at the end of the text.
    "plain": rb"[\t\x20-\x7e\x80-\xff]+|\r{1,2}\n|\x1b(?:\[(?:[0-9;:]*m|0?[JK]|\?25[hl])|\(B)",
    "any": rb"[\r\n\x20-\x7e\x80-\xff]+|\x1b(?:\[(?:[0-9;:]*m|\?25[hl])|\(B)",
    # Regions and modes are common to both screens, so they are not skipped.
    "marks": rb"[^\x07\x1b]+|\x1b(?:\[(?:[0-9;:]*[@-gi-kmn-qs-~]|\?25[hl])|\(B)",
}
# Finals of sequences without further conditions. One that repeats a character (b) depends on the token before it.
_MOVES: dict[ReadMode, bytes] = {"plain": rb"[@-ac-ln-~]", "any": rb"[@-ac-ln-~]", "marks": rb"[hlr]"}
_REST = (
    rb"|(\x07+|\x08+|\t+|\r+|[\n\x0b\x0c]+|[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]+)"
    rb"|\x1b\[([0-?]*[ -/]*)([@-~])"
)
_TOKENS = {
    mode: re.compile(rb"((?:" + run + rb")+)|((?:\x1b\[[0-9;]*" + _MOVES[mode] + rb")+)" + _REST)
    for mode, run in _RUNS.items()
}
_RUN_GROUP, _MOVES_GROUP, _CONTROL_GROUP, _PARAMETERS_GROUP, _FINAL_GROUP = range(1, 6)
_ERASURE = b"\r\x1b["
# Longer than a row with its colours.
_MAX_ERASED = 1024
# A spinner: its row is written, erased from the first column, and written again.
_COLORS = rb"(?:\x1b(?:\[(?:[0-9;:]*m|\?25[hl])|\(B))"
_ERASED_TEXT = re.compile(
    rb"(?:" + _COLORS + rb"*[\x20-\x7e][\x20-\x7e\x80-\xff]*(?:" + _COLORS + rb"[\x20-\x7e\x80-\xff]*)*"
    rb"\r+\x1b\[[02]?K)+"
)
_IGNORED = rb"[\x00-\x17\x19\x1c-\x1f\x7f-\xff]*"
_CSI_START = re.compile(rb"\x1b" + _IGNORED + rb"\[[^@-~\x18\x1a\x1b]*")
_ESCAPE_START = re.compile(rb"\x1b" + _IGNORED + rb"([ -/][^0-~\x18\x1a\x1b]*)?")
_NOT_CONTROL_BYTES = bytes(range(0x20, 0x100))
_NOT_PARAMETER_BYTES = bytes((*range(0x20), *range(0x7F, 0x100)))
_CANCEL_BYTES = b"\x18\x1a"
_ESC = 0x1B
_CSI_OPENER, _TERMINATOR = ord("["), ord("\\")
_NEVER = 1 << 63
_STRING_OPENERS: dict[int, SequenceKind] = {ord("]"): "osc", ord("P"): "dcs"}
_STRING_OPENERS.update(dict.fromkeys(b"X^_k", "string"))
_SEQUENCE_BODIES: dict[SequenceKind, re.Pattern[bytes]] = {
    "osc": re.compile(rb"[^\x07\x18\x1a\x1b]*"),
    "string": re.compile(rb"[^\x18\x1a\x1b]*"),
    # In a DCS, an ESC and the byte after it are content, unless they are ST.
    "dcs": re.compile(rb"(?:[^\x1b]+|\x1b[^\\])*"),
    "csi": re.compile(rb"[^@-~\x18\x1a\x1b]*"),
    "esc": re.compile(rb"[^0-~\x18\x1a\x1b]*"),
}
_DCS_HEADER = re.compile(rb"[\x00-\x17\x19\x1c-\x3f\x7f-\xff]*")


class OpenString(Struct, array_like=True):
    """A string, or a lost sequence, that is not complete.

    ``size`` is the length of its opener, ``at`` the time when it began. The first ``scanned`` bytes of the buffer need
    not be searched for its end again.
    """

    kind: SequenceKind
    size: int
    scanned: int
    at: int
    is_lost: bool = False
    has_header: bool = False


class Tokenizer:
    """Incremental tokenizer: call next_token() until it returns None, then feed() more bytes."""

    __slots__ = ("_base", "_data", "_erasure", "_index", "at", "open_string")

    def __init__(self, offset: int = 0, unfinished: bytes = b"", open_string: OpenString | None = None):
        self._data = unfinished
        self._index = 0
        self._erasure = -1
        """Index where text is erased next; -1 if nowhere."""
        self._base = offset
        self.at = 0
        self.open_string = open_string

    @property
    def position(self) -> int:
        """Return the offset of the first byte not covered by a token."""
        return self._base + self._index

    @property
    def unfinished_bytes(self) -> bytes:
        """Return the bytes of the unfinished character or sequence."""
        return self._data[self._index :]

    @property
    def end(self) -> int:
        """Return the offset after the last byte."""
        return self._base + len(self._data)

    def feed(self, data: bytes, at: int) -> None:
        """Add bytes that were read at time ``at``."""
        self.discard_consumed()
        self.at = at
        if self.open_string is not None and at - self.open_string.at > _STRING_TIMEOUT_NS:
            self._base += len(self._data)
            self._data, self.open_string = b"", None
        self._data = self._data + data if self._data else data
        self._erasure = self._data.find(_ERASURE)

    def discard_consumed(self) -> None:
        """Drop the bytes that tokens have covered."""
        if self._index:
            self._base += self._index
            self._data = self._data[self._index :]
            self._index = 0

    def next_token(self, mode: ReadMode) -> TerminalToken | None:
        """Return the next token, or None if more bytes are needed."""
        index, data = self._index, self._data
        if index >= len(data):
            return None
        if self.open_string is not None:
            token = self._read_string(self.open_string)
            # A lost sequence that is aborted by an ESC ends without a token of its own.
            if token is not None or self.open_string is not None:
                return token
        match = _TOKENS[mode].match(data, index)
        if match is None:
            return self._read_escape()
        group, end = match.lastindex, match.end()
        if group == _RUN_GROUP:
            return self._read_run(end, mode)
        if group == _FINAL_GROUP:
            if end - index > CSI_LIMIT:
                return self._read_escape()
            return self._emit("csi", end - index, match[_FINAL_GROUP].decode(), match[_PARAMETERS_GROUP])
        return self._emit("moves" if group == _MOVES_GROUP else "control", end - index, data=match[0])

    def read_erased(self) -> TerminalToken | None:
        """Read text that is erased again, as far as possible; the caller must know that it fits into its row."""
        index = self._index
        if self._erasure < index:
            self._erasure = self._data.find(_ERASURE, index) if self._erasure >= 0 else -1
        if not index < self._erasure < index + _MAX_ERASED or self.open_string is not None:
            return None
        match = _ERASED_TEXT.match(self._data, self._index)
        return None if match is None else self._emit("erased", match.end() - match.start(), data=match[0])

    def reread(self, token: TerminalToken) -> None:
        """Return to the start of a token that the caller could not use."""
        self._index = token.start - self._base

    def _emit(
        self, kind: TokenKind, size: int, text: str = "", data: bytes = b"", controls: bytes = b""
    ) -> TerminalToken:
        start = self._base + self._index
        self._index += size
        return TerminalToken(kind, start, start + size, text, data, controls)

    def _read_run(self, end: int, mode: ReadMode) -> TerminalToken | None:
        data = self._data[self._index : end] if self._index or end < len(self._data) else self._data
        if mode == "marks":
            return self._emit("run", len(data))
        if data.isascii():
            return self._emit("run", len(data), data.decode(), data)
        text, size = decode_text(data, is_open=end == len(self._data))
        if size:
            return self._emit("run", size, text, data[:size])
        hidden = count_hidden(data, 0)
        return self._emit("nothing", hidden) if hidden else None

    def _read_escape(self) -> TerminalToken | None:
        """Read a sequence that is unusual, incomplete or no CSI."""
        data, index = self._data, self._index
        match = _ESCAPE_START.match(data, index)
        stop = match.end() if match else index
        if stop - index >= CSI_LIMIT:
            return self._lose_sequence("esc", stop)
        if stop == len(data):
            return None
        if match and match[1] is None:
            if data[stop] == _CSI_OPENER:
                return self._read_unusual_csi()
            if data[stop] in _STRING_OPENERS:
                size = stop + 1 - index
                self.open_string = OpenString(_STRING_OPENERS[data[stop]], size, size, self.at)
                return self._read_string(self.open_string)
        return self._end_sequence("esc", stop, 1)

    def _read_unusual_csi(self) -> TerminalToken | None:
        match = _CSI_START.match(self._data, self._index)
        stop = match.end() if match else self._index
        if stop - self._index >= CSI_LIMIT:
            return self._lose_sequence("csi", stop)
        return None if stop == len(self._data) else self._end_sequence("csi", stop, 2)

    def _end_sequence(self, kind: Literal["csi", "esc"], stop: int, opener: int) -> TerminalToken:
        """Return the escape sequence from the current index to ``stop``, where its last byte completes or aborts it."""
        body, size, last = self._data[self._index : stop], stop - self._index, self._data[stop]
        controls = body[1:].translate(None, _NOT_CONTROL_BYTES)
        if last == _ESC or last in _CANCEL_BYTES:
            return self._emit("nothing", size + (last != _ESC), controls=controls)
        parameters = body.translate(None, _NOT_PARAMETER_BYTES)[opener - 1 :]
        return self._emit(kind, size + 1, chr(last), parameters, controls)

    def _lose_sequence(self, kind: SequenceKind, stop: int) -> TerminalToken:
        self.open_string = OpenString(kind, 0, 0, _NEVER, is_lost=True)
        return self._emit("lost", stop - self._index)

    def _read_string(self, string: OpenString) -> TerminalToken | None:
        """Read a string, or the rest of a lost sequence, up to its end."""
        data, index = self._data, self._index
        scan = index + string.scanned
        if string.kind == "dcs" and not string.has_header:
            match = _DCS_HEADER.match(data, scan)
            scan = match.end() if match else scan
            string.has_header = data[scan : scan + 1] not in (b"", b"\x18", b"\x1a", b"\x1b")
        kind: SequenceKind = "string" if string.kind == "dcs" and not string.has_header else string.kind
        match = _SEQUENCE_BODIES[kind].match(data, scan)
        stop = match.end() if match else scan
        is_complete = stop < len(data) and (data[stop] != _ESC or stop + 1 < len(data) or kind in ("csi", "esc"))
        if stop - index >= STRING_LIMIT or (string.is_lost and stop > index):
            string.is_lost, string.scanned = True, 0
            return self._emit("lost", stop - index)
        if not is_complete:
            string.scanned = stop - index
            return None
        self.open_string = None
        is_escape = data[stop] == _ESC
        is_terminator = is_escape and kind not in ("csi", "esc") and data[stop + 1] == _TERMINATOR
        size = stop - index + (2 if is_terminator else 0 if is_escape else 1)
        # Controls may stand between ESC and the byte that makes it a string.
        opener = b"" if string.is_lost else data[index + 1 : index + string.size]
        controls = opener.translate(None, _NOT_CONTROL_BYTES)
        if string.is_lost or data[stop] in _CANCEL_BYTES or (is_escape and not is_terminator):
            return self._emit("nothing", size, controls=controls) if size else None
        return self._emit(string.kind, size, data=data[index + string.size : stop], controls=controls)
