"""Split terminal output into tokens: runs of plain output, text, controls and escape sequences.

Chunks may end anywhere; tokens come out in order. Invariant: which token a byte belongs to depends only on the bytes
before it, never on the chunks. A run merely combines what several exact tokens would express.

Where terminals differ, this follows xterm. A string (OSC, DCS, SOS, PM, APC, and screen's ``ESC k``) ends at ST, an OSC
also at BEL. Newlines are part of it. CAN, SUB, or an ESC that begins another sequence aborts it. Inside tmux's
passthrough a doubled ESC is content. A byte 0x80-0x9f is a C1 control only where it does not continue a UTF-8
character; the C1 characters U+0080-U+009F themselves are dropped. Unlike in xterm, a control character aborts a CSI.
A sequence beyond its limit (a string of 64 KB, a CSI of 4 KB) is *lost*: reported once, then skipped to its end
without being buffered.
"""

import re
from itertools import islice
from typing import Literal

from msgspec import Struct

STRING_LIMIT = 65536
CSI_LIMIT = 4096

BundleKind = Literal["run", "moves", "erased"]
TokenKind = (
    BundleKind | Literal["text", "control", "dropped", "csi", "esc", "osc", "dcs", "tmux", "nothing", "lost", "skipped"]
)
SequenceKind = Literal["csi", "esc", "osc", "dcs", "tmux"]
ReadMode = Literal["fresh", "lines", "exact", "marks"]
"""What the caller can use: movements (if its line is empty), runs of whole lines, only single tokens, or only what
may be a mark."""


class TerminalToken(Struct, frozen=True, gc=False):
    """``start`` and ``end`` are offsets in the epoch.

    ``text`` holds the characters of a run, of erased text (with the sequences in it) or of text, or the final byte of
    a csi or esc; ``data`` holds the bytes of a run, text or control (possibly repeated), a string's payload, or the
    parameters of a csi or esc.
    """

    kind: TokenKind
    start: int
    end: int
    text: str = ""
    data: bytes = b""


_UTF8 = (
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
)
_PARTIAL_UTF8 = (  # the longest valid beginning of a UTF-8 character, which decodes to one U+FFFD
    rb"(?>[\xc2-\xdf]|\xe0[\xa0-\xbf]?|\xed[\x80-\x9f]?|[\xe1-\xec\xee\xef][\x80-\xbf]?"
    rb"|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?|[\xf1-\xf3][\x80-\xbf]{0,2})"
)
_HIGH_BYTES = _UTF8 + rb"|" + _PARTIAL_UTF8 + rb"(?!\Z)|[\x80-\x9b\x9d-\xc1\xf5-\xff]"

_RUN_PATTERNS: dict[ReadMode, re.Pattern[bytes]] = {
    # K and J to the end are harmless here, because in a run the cursor is at the end of its line
    "lines": re.compile(rb"(?:[\t\n\x20-\x7e\x80-\xff]++|\r{1,2}+\n|\x1b(?:\[(?:[0-9;:]*+m|0?[JK]|\?25[hl])|\(B))++"),
    "marks": re.compile(rb"(?:[^\x07\x1b]++|\x1b(?:\[(?:[0-9;:]*+[@-~]|\?25[hl])|\(B))++"),
}
_RUN_PATTERNS["fresh"] = _RUN_PATTERNS["lines"]
_ROW_MOVE = rb"\x1b\[(?:[0-9;]*+[ABEFHLMSTdefr]|[123]J)"
# Before the last move, only what ends freshness or is part of a run; else hostile bytes would be scanned repeatedly
_ROW_MOVES = re.compile(rb"(?:\x1b\[(?:[0-9;]*+m|[012]?K|0?J|[0-9]*+[CDG])|" + _ROW_MOVE + rb")*" + _ROW_MOVE)
# a spinner: its row is written, erased from the first column, and written again
_ERASED_TEXT = re.compile(rb"(?:(?:[\x20-\x7e\x80-\xff]++|\x1b(?:\[(?:[0-9;:]*+m|\?25[hl])|\(B))*+\r\x1b\[[02]?K)++")
_C1_CHARACTER = re.compile(rb"\xc2[\x80-\x9f]")
_SINGLE_TOKEN = re.compile(
    rb"(?P<text>(?:[\x20-\x7e]++|(?!\xc2[\x80-\x9f])(?:"
    + _UTF8
    + rb"|"
    + _PARTIAL_UTF8
    + rb"(?!\Z)|[\xa0-\xc1\xf5-\xff]))++)"
    rb"|(?P<csi>(?:\x1b\[|\x9b)(?P<parameters>[ -?]*+)[@-~])"
    rb"|(?P<control>\r\n|\n|\x07++|\x08++|\t++|\r+(?!\n)|\xc2[\x80-\x9f])"
    rb"|(?P<dropped>(?:[\x00-\x06\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x83\x86-\x8c\x8e\x8f\x91-\x97\x99\x9a\x9c]|\x1b(?=\x1b))++)"
)
_CHARACTER = re.compile(_UTF8 + rb"|" + _PARTIAL_UTF8 + rb"|.", re.DOTALL)
# A shorter run costs more than its few single tokens.
_MIN_RUN_BYTES = 8
_MAY_END_STRING = re.compile(rb"[\x07\x18\x1a\x1b\x9c]")


class _SequenceGrammar(Struct, frozen=True):
    """A sequence is ``body`` followed by ``end``; at ``tail`` it is incomplete."""

    limit: int
    body: re.Pattern[bytes]
    end: re.Pattern[bytes]
    tail: re.Pattern[bytes]


_INCOMPLETE = re.compile(rb"\Z")
_INCOMPLETE_STRING = re.compile(rb"(?:\x1b|" + _PARTIAL_UTF8 + rb")?\Z")
_STRING_TERMINATOR = rb"\x1b\\|\x9c"
_GRAMMARS: dict[SequenceKind, _SequenceGrammar] = {
    "csi": _SequenceGrammar(CSI_LIMIT, re.compile(rb"[ -?]*+"), re.compile(rb"[@-~]"), _INCOMPLETE),
    "esc": _SequenceGrammar(CSI_LIMIT, re.compile(rb"[ -/]*+"), re.compile(rb"[0-~]"), _INCOMPLETE),
    "osc": _SequenceGrammar(
        STRING_LIMIT,
        re.compile(rb"(?:[^\x07\x18\x1a\x1b\x80-\xff]++|" + _HIGH_BYTES + rb")*+"),
        re.compile(rb"\x07|" + _STRING_TERMINATOR),
        _INCOMPLETE_STRING,
    ),
    "dcs": _SequenceGrammar(
        STRING_LIMIT,
        re.compile(rb"(?:[^\x18\x1a\x1b\x80-\xff]++|" + _HIGH_BYTES + rb")*+"),
        re.compile(_STRING_TERMINATOR),
        _INCOMPLETE_STRING,
    ),
    "tmux": _SequenceGrammar(
        STRING_LIMIT,
        re.compile(rb"(?:[^\x18\x1a\x1b\x80-\xff]++|\x1b\x1b|" + _HIGH_BYTES + rb")*+"),
        re.compile(_STRING_TERMINATOR),
        _INCOMPLETE_STRING,
    ),
}
_SEQUENCE_OPENERS: dict[int, SequenceKind] = {ord("["): "csi", ord("]"): "osc"}
_SEQUENCE_OPENERS.update(dict.fromkeys(b"PX^_k", "dcs"))
_PASSTHROUGH_PREFIX = b"tmux;"
_CANCEL_BYTES = b"\x18\x1a"
_ESC = 0x1B


class Tokenizer:
    """Incremental tokenizer: call next_token() until it returns None, then feed() more bytes."""

    def __init__(self, offset: int = 0, skipped_kind: SequenceKind | None = None):
        self._data = b""
        self._index = 0
        self._base = offset
        self._exact_until = 0
        self._is_inside_string = False
        self.skipped_kind = skipped_kind

    @property
    def position(self) -> int:
        """Return the offset of the first byte not covered by a token."""
        return self._base + self._index

    @property
    def unfinished_bytes(self) -> bytes:
        """Return the bytes of the unfinished character or sequence."""
        return self._data[self._index :]

    def feed(self, data: bytes) -> None:
        self.discard_consumed()
        # A long string that arrives in small chunks must not be scanned from its start each time.
        is_still_inside = self._is_inside_string and not _MAY_END_STRING.search(data)
        self._is_inside_string = is_still_inside and data[-1:].isascii() and len(self._data) + len(data) < STRING_LIMIT
        self._data = self._data + data if self._data else data

    def discard_consumed(self) -> None:
        """Drop the bytes that tokens have covered."""
        self._base += self._index
        self._data = self._data[self._index :]
        self._index = self._exact_until = 0

    def next_token(self, mode: ReadMode) -> TerminalToken | None:
        """Return the next token, or None if more bytes are needed."""
        if self._is_inside_string or self._index >= len(self._data):
            return None
        if self.skipped_kind is not None:
            return self._skip_sequence(self.skipped_kind)
        if mode != "exact" and self._index >= self._exact_until:
            bundle = self._read_bundle(mode)
            if bundle is not None:
                return bundle
        return self._read_exact()

    def reread_exactly(self, run: TerminalToken) -> None:
        """Rewind to return the bytes of a run again as exact tokens, because the caller could not use the run."""
        self._index = run.start - self._base
        self._exact_until = run.end - self._base

    def _read_bundle(self, mode: ReadMode) -> TerminalToken | None:
        if mode == "marks":
            return self._read_run(_RUN_PATTERNS[mode])
        return (
            (self._read_moves() if mode == "fresh" else None)
            or self._read_erased()
            or self._read_run(_RUN_PATTERNS[mode])
        )

    def _read_moves(self) -> TerminalToken | None:
        """Read movements in an empty line as one token; only the end of the last jump to another row matters."""
        match = _ROW_MOVES.match(self._data, self._index)
        return self._emit("moves", match.end() - match.start()) if match else None

    def _read_erased(self) -> TerminalToken | None:
        """Read text that is erased again as one token; it matters only if it is too long for its row."""
        match = _ERASED_TEXT.match(self._data, self._index)
        if match is None:
            return None
        data = match.group()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            # Invalid UTF-8 is left to the exact tokens.
            return None
        return None if _has_c1(data) else self._emit("erased", len(data), text, data)

    def _read_run(self, pattern: re.Pattern[bytes]) -> TerminalToken | None:
        start = self._index
        match = pattern.match(self._data, start)
        if match is None:
            return None
        data = match.group()
        if len(data) < _MIN_RUN_BYTES:
            self._exact_until = start + len(data)
            return None
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            # The run ends before the first invalid byte, which is left to the exact tokens.
            self._exact_until = start + len(data)
            data = data[: error.start]
            text = data.decode()
        if _has_c1(data):
            self._exact_until = start + len(data)
            return None
        return self._emit("run", len(data), text, data) if data else None

    def _emit(self, kind: TokenKind, size: int, text: str = "", data: bytes = b"") -> TerminalToken:
        start = self._base + self._index
        self._index += size
        return TerminalToken(kind, start, start + size, text, data)

    def _read_exact(self) -> TerminalToken | None:
        index = self._index
        match = _SINGLE_TOKEN.match(self._data, index)
        if match is None:
            return self._read_opener(self._data[index])
        data = match.group()
        if match.lastgroup == "text":
            return self._emit("text", len(data), data.decode("utf-8", "replace"), data)
        if match.lastgroup == "control":
            return self._emit("control", len(data), "", data)
        if match.lastgroup == "dropped":
            return self._emit("dropped", len(data))
        if len(data) > CSI_LIMIT:
            return self._emit("lost", len(data))
        return self._emit("csi", len(data), chr(data[-1]), match["parameters"])

    def _read_opener(self, byte: int) -> TerminalToken | None:
        """Read a string, an escape or a C1 control; return None for an incomplete character."""
        index = self._index
        if byte == _ESC:
            if index + 1 == len(self._data):
                return None
            kind = _SEQUENCE_OPENERS.get(self._data[index + 1])
            return self._read_sequence(kind, index + 2) if kind else self._read_sequence("esc", index + 1)
        if byte >= 0xA0:
            return None
        kind = _SEQUENCE_OPENERS.get(byte - 0x40)
        return self._read_sequence(kind, index + 1) if kind else self._emit("esc", 1, chr(byte - 0x40))

    def _read_sequence(self, kind: SequenceKind, body: int) -> TerminalToken | None:
        start = self._index
        if self._data[body - 1] in b"P\x90" and self._data.startswith(_PASSTHROUGH_PREFIX, body):
            kind = "tmux"
        limit = _GRAMMARS[kind].limit
        stop, end = self._find_sequence_end(kind, body)
        if end is None:
            if stop - start < limit:
                self._is_inside_string = kind not in ("csi", "esc") and self._data[-1] < 0x80 and self._data[-1] != _ESC
                return None
            self.skipped_kind = kind
            return self._emit("lost", stop - start)
        if stop - start >= limit:
            return self._emit("lost", end - start)
        if end == stop or self._data[stop] in _CANCEL_BYTES:
            return self._emit("nothing", end - start)
        final = chr(self._data[end - 1]) if kind in ("csi", "esc") else ""
        return self._emit(kind, end - start, final, self._data[body:stop])

    def _skip_sequence(self, kind: SequenceKind) -> TerminalToken | None:
        stop, end = self._find_sequence_end(kind, self._index)
        size = (stop if end is None else end) - self._index
        if end is not None:
            self.skipped_kind = None
        return self._emit("skipped", size) if size or end is not None else None

    def _find_sequence_end(self, kind: SequenceKind, body: int) -> tuple[int, int | None]:
        """Return where the body stops and where the sequence ends: the same offset if aborted, None if incomplete."""
        grammar = _GRAMMARS[kind]
        body_match = grammar.body.match(self._data, body)
        stop = body_match.end() if body_match else body
        end_match = grammar.end.match(self._data, stop)
        if end_match is not None:
            return stop, end_match.end()
        if grammar.tail.match(self._data, stop):
            return stop, None
        return stop, stop + (self._data[stop] in _CANCEL_BYTES)


def _has_c1(data: bytes) -> bool:
    return b"\xc2" in data and _C1_CHARACTER.search(data) is not None


def count_bytes(data: bytes, head: str) -> int:
    """Return how many bytes of ``data`` decode to ``head``, with each invalid sequence counted as one U+FFFD."""
    if "\ufffd" not in head:
        return len(head.encode())
    return sum(len(match.group()) for match in islice(_CHARACTER.finditer(data), len(head)))
