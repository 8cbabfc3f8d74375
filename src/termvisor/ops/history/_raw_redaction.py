"""Secrets out of raw bytes on their way out, line by line, at any chunk border.

Keys are first overwritten where they stand, as in sealed segments, so that those painted over a screen are found too.
Then every line is judged by its text without escapes. A line without a secret goes out byte for byte; one with a secret
goes out as its redacted text.
"""

import re

from termvisor.redaction import Redactor, redact
from termvisor.redaction.raw_bytes import RawMask

_LONGEST = 64 << 10
"""A line longer than this is cut at its last blank, so that memory stays bounded."""

_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


class Masking:
    """One per epoch's stream: secrets that go on in the next row are followed."""

    def __init__(self) -> None:
        self._painted = RawMask()
        self._redactor = Redactor()
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """What may go out now; an unfinished line is held back, and so is what is too little to be worth a look."""
        return self._judged(self._painted.feed(data))

    def _judged(self, data: bytes) -> bytes:
        self._rest += data
        end = self._rest.rfind(b"\n") + 1
        if not end and len(self._rest) > _LONGEST:
            end = max(self._rest.rfind(blank) for blank in (b" ", b"\r", b"\t")) + 1 or len(self._rest)
        ready, self._rest = self._rest[:end], self._rest[end:]
        return self._masked(ready)

    def finish(self) -> bytes:
        """The rest; what comes next belongs to another stream."""
        ready = self._judged(self._painted.finish())
        rest, self._rest = self._masked(self._rest), b""
        self._redactor, self._painted = Redactor(), RawMask()
        return ready + rest

    def _masked(self, data: bytes) -> bytes:
        raws = data.split(b"\n")
        texts = [_text(_ESCAPE.sub(b"", raw)) for raw in raws]
        masked = self._redactor.lines(texts if raws[-1] else texts[:-1])
        masked += texts[len(masked) :]
        return b"\n".join(map(_chosen, raws, texts, masked))


def _text(data: bytes) -> str:
    """As UTF-8, or byte by byte where it is none."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _chosen(raw: bytes, text: str, masked: str) -> bytes:
    """The line itself where it holds no secret, in its text or inside an escape sequence."""
    if masked != text:
        return masked.encode()
    whole = _text(raw)
    return raw if len(whole) == len(text) or redact(whole) == whole else masked.encode()
