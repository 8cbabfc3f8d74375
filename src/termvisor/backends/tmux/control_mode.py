"""tmux's control mode as values: bytes in, notices, outputs and replies out.

Text inside a ``%begin … %end`` block is not escaped, so a pane could print a line that looks like the end of a block.
Therefore every request is followed by a token that nobody can guess, and hostile text stands only in a request's last
block, its *body*, which ends at the last matching ``%end`` before that token.
"""

import codecs
import re
from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct

_OUTPUT = re.compile(rb"%(?:output (%\d+) |extended-output (%\d+) \d+[^:]*: )(.*)", re.DOTALL)
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")


class Notice(Struct, frozen=True):
    """A notification such as ``sessions-changed``, with its words."""

    name: str
    words: tuple[str, ...] = ()


class Output(Struct, frozen=True):
    """Bytes that a pane printed, exactly as its program wrote them."""

    pane: str
    data: bytes


class Reply(Struct, frozen=True):
    """The answer to one request: what the trusted commands printed, the body, the first error."""

    token: str
    printed: tuple[bytes, ...] = ()
    body: tuple[bytes, ...] = ()
    error: str = ""


Item = Notice | Output | Reply


def unescape(data: bytes) -> bytes:
    """Undo control mode's octal escapes: exactly three digits for bytes below space and for the backslash.

    What tmux would never write is left as it is.
    """
    try:
        return _decode(data)
    except (ValueError, Warning):
        return _by_pattern(data)


def _by_pattern(data: bytes) -> bytes:
    return _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), data)


def _fastest() -> Callable[[bytes], bytes]:
    """`codecs.escape_decode` is 20 times faster but undocumented: use it only where it proves itself."""
    sample = bytes(range(0x20)) + b"\\ plain \xff"
    escaped = b"".join(b"\\%03o" % byte if byte < 0x20 or byte == 0x5C else bytes([byte]) for byte in sample)
    try:
        if codecs.escape_decode(escaped)[0] == sample:
            return lambda data: codecs.escape_decode(data)[0]
    except (AttributeError, ValueError):
        pass
    return _by_pattern


_decode = _fastest()


_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 /._=:,+-")
_ESCAPED = {byte: f"\\{byte:03o}" for byte in range(256) if byte not in _PLAIN}


def quote(text: str) -> str:
    """A tmux word that means exactly this text; formats inside it are still expanded by the command that takes it."""
    return '"' + text.encode().decode("latin-1").translate(_ESCAPED) + '"'


class ControlParser:
    """Feed it what the control client prints; tell it beforehand which tokens will come."""

    def __init__(self) -> None:
        self._rest = b""
        self._tokens: deque[str] = deque()
        self._collected: list[bytes] = []
        self._is_closing = False
        self._skipping: bytes | None = None

    def expect(self, token: str) -> None:
        """Call before the request is written."""
        self._tokens.append(token)

    def feed(self, data: bytes) -> Iterator[Item]:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            yield from self._line(line.removesuffix(b"\r"))

    def _line(self, line: bytes) -> Iterator[Item]:
        if self._collected:
            yield from self._collect(line)
        elif self._skipping is not None:
            if line in (b"%end " + self._skipping, b"%error " + self._skipping):
                self._skipping = None
        elif line.startswith(b"%begin "):
            if self._tokens:
                self._collected.append(line)
            else:
                self._skipping = line[len(b"%begin ") :]
        else:
            yield from _outside(line)

    def _collect(self, line: bytes) -> Iterator[Item]:
        self._collected.append(line)
        if self._is_closing:
            lines, self._collected, self._is_closing = self._collected, [], False
            yield from _resolve(lines, self._tokens.popleft())
        elif line == self._tokens[0].encode():
            self._is_closing = True


def _outside(line: bytes) -> Iterator[Notice | Output]:
    if found := _OUTPUT.fullmatch(line):
        yield Output((found[1] or found[2]).decode(), unescape(found[3]))
    elif line.startswith(b"%"):
        name, *words = line[1:].decode("utf-8", "replace").split(" ")
        yield Notice(name, tuple(words))


def _resolve(lines: list[bytes], token: str) -> Iterator[Item]:
    """Split what came between the first ``%begin`` and the token; what stands outside blocks keeps its place."""
    mark = f"{token}:body".encode()
    before: list[Item] = []
    after: list[Item] = []
    printed: list[bytes] = []
    body: tuple[bytes, ...] | None = None
    error = ""
    at, end = 0, len(lines) - 3
    while at < end:
        begin = lines[at].removeprefix(b"%begin ")
        if begin == lines[at]:
            (before if body is None else after).extend(_outside(lines[at]))
            at += 1
            continue
        is_body = body is None and printed[-1:] == [mark]
        close = _close(lines, range(at + 1, end), begin, is_last=is_body)
        inside = lines[at + 1 : close]
        if lines[close].startswith(b"%error"):
            error = error or b" ".join(inside).decode("utf-8", "replace")
        elif is_body:
            body = tuple(inside)
        else:
            printed.extend(inside)
        at = close + 1
    yield from before
    yield Reply(token, tuple(text for text in printed if text != mark), body or (), error)
    yield from after


def _close(lines: list[bytes], where: range, triple: bytes, *, is_last: bool) -> int:
    ends = (b"%end " + triple, b"%error " + triple)
    return next((at for at in (reversed(where) if is_last else where) if lines[at] in ends), where.stop)
