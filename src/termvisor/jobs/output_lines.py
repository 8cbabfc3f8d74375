"""Turn harvested bytes into lines of text, each with the offset of its first byte. Pure."""

import re

from msgspec import Struct

from termvisor.jobs.output import OutputPiece
from termvisor.redaction import Redactor

_ESCAPE_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])"
    rb"|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)
_MAX_LINE_BYTES = 64 << 10
"""A longer line is returned in parts."""


class OutputLine(Struct, frozen=True, kw_only=True):
    """A line of text, without escape sequences and redacted; ``at`` is when its last byte was read (ns)."""

    at: int
    offset: int
    text: str


class HarvestedLines(Struct, frozen=True, kw_only=True):
    """Complete lines, the text of an unfinished one behind them, and the offset to continue at."""

    lines: tuple[OutputLine, ...]
    pending: str
    cursor: int


def split_lines(pieces: tuple[OutputPiece, ...], cursor: int, *, is_over: bool, redactor: Redactor) -> HarvestedLines:
    """Return the lines of consecutive pieces that begin at ``cursor``.

    The unfinished line counts as a line if nothing follows. ``redactor`` is that of the stream.
    """
    found: list[tuple[int, int, bytes]] = []
    rest, start, at = b"", pieces[0].offset if pieces else cursor, 0
    for piece in pieces:
        *complete, rest_part = piece.data.split(b"\n")
        at = piece.at
        for part in complete:
            found.append((piece.at, start, rest + part))
            start += len(rest) + len(part) + 1
            rest = b""
        rest += rest_part
    if rest and (is_over or len(rest) >= _MAX_LINE_BYTES):
        found.append((at, start, rest))
        start, rest = start + len(rest), b""
    texts = redactor.redact_lines([render_plain(data) for _, _, data in found])
    lines = (OutputLine(at=at, offset=offset, text=text) for (at, offset, _), text in zip(found, texts, strict=True))
    pending = Redactor(state=redactor.state).redact_cut_line(render_plain(rest)) if rest else ""
    return HarvestedLines(lines=tuple(lines), pending=pending, cursor=start)


def render_plain(data: bytes) -> str:
    """Return what a line shows: without escape sequences, overwritten text or erased characters."""
    data = _ESCAPE_SEQUENCE.sub(b"", data)
    if b"\r" in data:
        # A progress bar returns to the first column; what is longer remains behind it.
        shown = b""
        for part in data.rstrip(b"\r").split(b"\r"):
            shown = part + shown[len(part) :]
        data = shown
    text = data.decode("utf-8", "replace")
    while "\b" in text:
        text = re.sub("[^\x08]\x08|^\x08+", "", text)
    return text.replace("\x1b", "")
