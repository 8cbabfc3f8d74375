"""Parse tmux control mode: bytes to notices, pane output and replies.

Text inside a ``%begin … %end`` block is not escaped, so a pane could print a line that looks like the end of a block.
Therefore every request is followed by an unguessable token, and untrusted text occurs only in its last block, the
*body*, which ends at the last matching ``%end`` before the token.
"""

import codecs
import re
from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct

_OUTPUT_LINE = re.compile(rb"%(?:output (%\d+) |extended-output (%\d+) \d+[^:]*: )(.*)", re.DOTALL)
_OCTAL_ESCAPE = re.compile(rb"\\([0-3][0-7]{2})")


class ControlNotice(Struct, frozen=True):
    """A notification such as ``sessions-changed``, with its arguments."""

    name: str
    arguments: tuple[str, ...] = ()


class ControlOutput(Struct, frozen=True):
    """Bytes that a pane printed, exactly as its program wrote them."""

    pane: str
    data: bytes


class ControlReply(Struct, frozen=True):
    """The answer to one request: output of the trusted commands, the body and the first error."""

    token: str
    output_lines: tuple[bytes, ...] = ()
    body: tuple[bytes, ...] = ()
    error: str = ""


ControlItem = ControlNotice | ControlOutput | ControlReply


def unescape(data: bytes) -> bytes:
    """Decode control mode's octal escapes: exactly three digits, for bytes below space and for the backslash.

    Sequences that tmux never writes are left unchanged.
    """
    try:
        return _unescape_fast(data)
    except (ValueError, Warning):
        # A backslash that tmux would not write.
        return _unescape_by_pattern(data)


def _unescape_by_pattern(data: bytes) -> bytes:
    return _OCTAL_ESCAPE.sub(lambda match: bytes([int(match[1], 8)]), data)


def _choose_unescape() -> Callable[[bytes], bytes]:
    """Return `codecs.escape_decode` (20 times faster but undocumented) if it passes a test, else the regex version."""
    sample = bytes(range(0x20)) + b"\\ plain \xff"
    escaped = b"".join(b"\\%03o" % byte if byte < 0x20 or byte == 0x5C else bytes([byte]) for byte in sample)
    try:
        if codecs.escape_decode(escaped)[0] == sample:
            return lambda data: codecs.escape_decode(data)[0]
    except (AttributeError, ValueError):
        # Removed or changed in a later Python.
        pass
    return _unescape_by_pattern


_unescape_fast = _choose_unescape()

_UNESCAPED_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 /._=:,+-")
_ESCAPES_BY_BYTE = {byte: f"\\{byte:03o}" for byte in range(256) if byte not in _UNESCAPED_BYTES}


def quote_word(text: str) -> str:
    """Quote text as one tmux word. A command that expands formats still expands those inside it."""
    return '"' + text.encode().decode("latin-1").translate(_ESCAPES_BY_BYTE) + '"'


class ControlParser:
    """Parser for the output of a control client. Register each request's token with expect_reply()."""

    def __init__(self) -> None:
        self._partial_line = b""
        self._expected_tokens: deque[str] = deque()
        self._reply_lines: list[bytes] = []
        self._is_reply_closing = False
        self._skipped_block: bytes | None = None

    def expect_reply(self, token: str) -> None:
        """Register the token of a request. Call this before writing the request."""
        self._expected_tokens.append(token)

    def feed(self, data: bytes) -> Iterator[ControlItem]:
        lines = (self._partial_line + data).split(b"\n")
        self._partial_line = lines.pop()
        for line in lines:
            yield from self._parse_line(line.removesuffix(b"\r"))

    def _parse_line(self, line: bytes) -> Iterator[ControlItem]:
        if self._reply_lines:
            yield from self._collect_reply_line(line)
        elif self._skipped_block is not None:
            if line in (b"%end " + self._skipped_block, b"%error " + self._skipped_block):
                self._skipped_block = None
        elif line.startswith(b"%begin "):
            if self._expected_tokens:
                self._reply_lines.append(line)
            else:
                self._skipped_block = line[len(b"%begin ") :]
        else:
            yield from _parse_notification(line)

    def _collect_reply_line(self, line: bytes) -> Iterator[ControlItem]:
        self._reply_lines.append(line)
        if self._is_reply_closing:
            lines, self._reply_lines, self._is_reply_closing = self._reply_lines, [], False
            yield from _parse_reply(lines, self._expected_tokens.popleft())
        elif line == self._expected_tokens[0].encode():
            self._is_reply_closing = True


def _parse_notification(line: bytes) -> Iterator[ControlNotice | ControlOutput]:
    if match := _OUTPUT_LINE.fullmatch(line):
        yield ControlOutput((match[1] or match[2]).decode(), unescape(match[3]))
    elif line.startswith(b"%"):
        name, *words = line[1:].decode("utf-8", "replace").split(" ")
        yield ControlNotice(name, tuple(words))


def _parse_reply(lines: list[bytes], token: str) -> Iterator[ControlItem]:
    """Parse the lines from the first ``%begin`` to the token, keeping notices in order before or after the body."""
    mark = f"{token}:body".encode()
    before: list[ControlItem] = []
    after: list[ControlItem] = []
    printed: list[bytes] = []
    body: tuple[bytes, ...] | None = None
    error = ""
    index, end = 0, len(lines) - 3
    while index < end:
        begin = lines[index].removeprefix(b"%begin ")
        if begin == lines[index]:
            (before if body is None else after).extend(_parse_notification(lines[index]))
            index += 1
            continue
        is_body = body is None and printed[-1:] == [mark]
        close = _find_block_end(lines, range(index + 1, end), begin, is_last=is_body)
        block = lines[index + 1 : close]
        if lines[close].startswith(b"%error"):
            error = error or b" ".join(block).decode("utf-8", "replace")
        elif is_body:
            body = tuple(block)
        else:
            printed.extend(block)
        index = close + 1
    yield from before
    yield ControlReply(token, tuple(text for text in printed if text != mark), body or (), error)
    yield from after


def _find_block_end(lines: list[bytes], candidates: range, block_id: bytes, *, is_last: bool) -> int:
    ends = (b"%end " + block_id, b"%error " + block_id)
    return next(
        (index for index in (reversed(candidates) if is_last else candidates) if lines[index] in ends), candidates.stop
    )
