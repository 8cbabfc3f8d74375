"""Secrets out of raw bytes on their way out, line by line, at any chunk border.

Keys are first overwritten where they stand, as in sealed segments, so that those painted over a screen are found too.
Then every line is judged by its text without escapes. A line without a secret goes out byte for byte; one with a secret
goes out as its redacted text.
"""

import re

from termvisor.redaction import Redactor, redact
from termvisor.redaction.raw_bytes import RawByteMasker

_MAX_LINE_BYTES = 64 << 10
"""A line longer than this is cut at its last blank, so that memory stays bounded."""

_ESCAPE_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


class RawOutputRedactor:
    """One per epoch's stream: secrets that go on in the next row are followed."""

    def __init__(self) -> None:
        self._raw_mask = RawByteMasker()
        self._redactor = Redactor()
        self._unfinished_line = b""

    def feed(self, data: bytes) -> bytes:
        """What may go out now; an unfinished line is held back, and so is what is too little to be worth a look."""
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
        """The rest; what comes next belongs to another stream."""
        ready = self._redact_complete_lines(self._raw_mask.finish())
        rest, self._unfinished_line = self._redact_lines(self._unfinished_line), b""
        self._redactor, self._raw_mask = Redactor(), RawByteMasker()
        return ready + rest

    def _redact_lines(self, data: bytes) -> bytes:
        raws = data.split(b"\n")
        texts = [_decode_bytes(_ESCAPE_SEQUENCE.sub(b"", raw)) for raw in raws]
        masked = self._redactor.redact_lines(texts if raws[-1] else texts[:-1])
        masked += texts[len(masked) :]
        return b"\n".join(map(_choose_line, raws, texts, masked))


def _decode_bytes(data: bytes) -> str:
    """As UTF-8, or byte by byte where it is none."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _choose_line(raw: bytes, text: str, redacted: str) -> bytes:
    """The line itself where it holds no secret, in its text or inside an escape sequence."""
    if redacted != text:
        return redacted.encode()
    whole = _decode_bytes(raw)
    return raw if len(whole) == len(text) or redact(whole) == whole else redacted.encode()
