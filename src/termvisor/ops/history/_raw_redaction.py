"""Redact raw terminal output for export, in chunks of any size.

First, keys are overwritten in place as in sealed segments, which also finds keys painted across a screen. Then the text
of each line is checked without its escape sequences: a line without secrets is returned unchanged, and a line with a
secret is replaced with its redacted text.
"""

import re

from termvisor.redaction import Redactor, redact
from termvisor.redaction.raw_bytes import RawByteMasker

# A longer line is split at its last space, to limit memory usage.
_MAX_LINE_BYTES = 64 << 10

_ESCAPE_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")

# Cursor movements that end a word: to another row or column.
_CURSOR_FINALS = frozenset(b"ABCDEFGHfad`")


class RawOutputRedactor:
    """Redacts one stream (epoch), including secrets that continue on the next line."""

    def __init__(self) -> None:
        self._raw_mask = RawByteMasker()
        self._redactor = Redactor()
        self._unfinished_line = b""

    def feed(self, data: bytes) -> bytes:
        """Return the redacted bytes that are ready; incomplete lines and small pieces are buffered."""
        return self._redact_complete_lines(self._raw_mask.feed(data))

    def _redact_complete_lines(self, data: bytes) -> bytes:
        self._unfinished_line += data
        end = self._unfinished_line.rfind(b"\n") + 1
        if not end and len(self._unfinished_line) > _MAX_LINE_BYTES:
            end = max(self._unfinished_line.rfind(blank) for blank in (b" ", b"\r", b"\t")) + 1 or len(
                self._unfinished_line
            )
        ready, self._unfinished_line = self._unfinished_line[:end], self._unfinished_line[end:]
        return self._redact_lines(ready)

    def finish(self) -> bytes:
        """Return the buffered rest and reset for another stream."""
        ready = self._redact_complete_lines(self._raw_mask.finish())
        rest, self._unfinished_line = self._redact_lines(self._unfinished_line), b""
        self._redactor, self._raw_mask = Redactor(), RawByteMasker()
        return ready + rest

    def _redact_lines(self, data: bytes) -> bytes:
        raws = data.split(b"\n")
        texts = [_decode_bytes(_ESCAPE_SEQUENCE.sub(_render_sequence, raw)) for raw in raws]
        # The empty text after the last newline is not a line of the stream.
        masked = self._redactor.redact_lines(texts if raws[-1] else texts[:-1])
        masked += texts[len(masked) :]
        return b"\n".join(map(_choose_line, raws, texts, masked))


def _render_sequence(match: re.Match[bytes]) -> bytes:
    """Return a blank for a cursor movement, which ends a word, and nothing for other sequences."""
    return b" " if match[0][:2] == b"\x1b[" and match[0][-1] in _CURSOR_FINALS else b""


def _decode_bytes(data: bytes) -> str:
    """Decode as UTF-8, or as Latin-1 if it is not valid UTF-8."""
    try:
        return data.decode()
    # Latin-1 has a character for every byte, so no line escapes the check.
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _choose_line(raw: bytes, text: str, redacted: str) -> bytes:
    """Return the raw line if neither its text nor its escape sequences contain a secret."""
    if redacted != text:
        return redacted.encode()
    whole = _decode_bytes(raw)
    # Equal lengths mean that there are no escape sequences, so the whole line was checked.
    return raw if len(whole) == len(text) or redact(whole) == whole else redacted.encode()
