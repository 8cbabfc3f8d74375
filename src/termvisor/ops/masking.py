"""Secrets out of raw bytes on their way out, line by line, at any chunk border.

A line is judged by its text without escapes, so a key in changing colours is found. A line without a secret goes out
byte for byte; one with a secret goes out as its redacted text.
"""

import re

from termvisor.redact import redact

_LONGEST = 64 << 10
"""A line longer than this is cut at its last blank, so that memory stays bounded."""

_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


class Masking:
    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """What may go out now; an unfinished line is held back."""
        self._rest += data
        end = self._rest.rfind(b"\n") + 1
        if not end and len(self._rest) > _LONGEST:
            end = max(self._rest.rfind(blank) for blank in (b" ", b"\r", b"\t")) + 1 or len(self._rest)
        ready, self._rest = self._rest[:end], self._rest[end:]
        return b"".join(map(_masked, ready.splitlines(keepends=True)))

    def finish(self) -> bytes:
        rest, self._rest = self._rest, b""
        return _masked(rest)


def _masked(line: bytes) -> bytes:
    bare = _ESCAPE.sub(b"", line)
    masked = _redacted(bare)
    return _redacted(line) if masked == bare else masked


def _redacted(data: bytes) -> bytes:
    try:
        return redact(data.decode()).encode()
    except UnicodeDecodeError:
        return redact(data.decode("latin-1")).encode("latin-1", "replace")
