"""Parse tmux control mode: bytes to notices, pane output and replies.

Text inside a ``%begin … %end`` block is not escaped, so a pane could print a line that looks like the end of a block.
Therefore every request is followed by an unguessable token, and untrusted text occurs only in its last block. That
block ends at the last ``%end`` before the token, and begins at the first ``%begin`` with the same numbers.
"""

import codecs
import re
from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct

from termvisor.backends.tmux.commands import TmuxReply

_OUTPUT_LINE = re.compile(rb"%(?:output (%\d+) |extended-output (%\d+) \d+[^:]*: )(.*)", re.DOTALL)
_BLOCK_ENDS = (b"%end ", b"%error ")
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
    """The answer to the request with this token, at its place in the output."""

    token: str
    reply: TmuxReply


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
    """Parse the lines from the first ``%begin`` to the token, keeping notices in order before or after the last block.

    A pane chose none of the lines before the last block begins, and none after it ends.
    """
    # The last three lines are the block of the token itself.
    end = max((index for index in range(len(lines) - 3) if lines[index].startswith(_BLOCK_ENDS)), default=-1)
    begin = _find_block_start(lines, end)
    blocks, notices = _split_blocks(lines[:begin])
    if end >= 0:
        blocks.append((lines[end].startswith(b"%error "), lines[begin + 1 : end]))
    printed = tuple(line for is_error, block in blocks if not is_error for line in block)
    errors = [b" ".join(block).decode("utf-8", "replace") for is_error, block in blocks if is_error]
    for notice in notices:
        yield from _parse_notification(notice)
    yield ControlReply(token, TmuxReply(printed, errors[0] if errors else ""))
    for notice in lines[end + 1 : -3]:
        yield from _parse_notification(notice)


def _find_block_start(lines: list[bytes], end: int) -> int:
    """Return the index of the ``%begin`` line of the block that ends at ``end``; 0 if there is no block."""
    block_id = lines[end].partition(b" ")[2] if end >= 0 else b""
    return next((index for index in range(end) if lines[index] == b"%begin " + block_id), max(end, 0))


def _split_blocks(lines: list[bytes]) -> tuple[list[tuple[bool, list[bytes]]], list[bytes]]:
    """Return the trusted blocks, each with whether it is an error, and the notices between them."""
    blocks: list[tuple[bool, list[bytes]]] = []
    notices: list[bytes] = []
    block: list[bytes] | None = None
    for line in lines:
        if block is None and line.startswith(b"%begin "):
            block = []
        elif block is None:
            notices.append(line)
        elif line.startswith(_BLOCK_ENDS):
            blocks.append((line.startswith(b"%error "), block))
            block = None
        else:
            block.append(line)
    return blocks, notices
