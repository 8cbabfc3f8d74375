"""The op `logs`: the last lines of the daemon's own log, and those that come."""

import os
import re
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, get_args

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where
from termvisor.ops.render.text import Look, block, clean
from termvisor.redaction import redact
from termvisor.settings import LogLevel

_PER_LINE = 400
"""Bytes read for each line that is asked for; a log line is seldom longer."""


_LOOK_EVERY = 0.2
"""Seconds between two looks at a followed file."""
_LEVELS = get_args(LogLevel)
_HEAD = re.compile(r"\d{4}-\d\d-\d\d [\d:,]+ ([A-Z]+) ")


class ReadLogs(Struct, frozen=True, kw_only=True):
    """How much of the log to show."""

    tail: Annotated[
        int, Meta(description="How many of the last lines.", ge=1, le=100_000, extra={"short": ("-n",)})
    ] = 50
    level: Annotated[LogLevel | None, Meta(description="Only what is at least this serious.")] = None
    follow: Annotated[bool, Meta(description="Go on with what is logged from now on.", extra={"short": ("-f",)})] = (
        False
    )


class LogLines(Struct, frozen=True, kw_only=True):
    path: str
    level: LogLevel | None
    lines: tuple[str, ...]


async def run(world: World, wanted: ReadLogs) -> LogLines:
    path = where(world).log_file
    sieve = Sieve(wanted.level)
    count = wanted.tail if wanted.level is None else None
    lines = sieve.passed([*_last(path + ".1", count), *_last(path, count)])
    return LogLines(path=path, level=wanted.level, lines=tuple(lines[-wanted.tail :]))


def _last(path: str, count: int | None) -> list[str]:
    """The last lines of a file, or all of them; an absent one has none."""
    start = max(0, _extent(path)[1] - count * _PER_LINE) if count is not None else 0
    lines = redact(_read_from(path, start).decode(errors="replace")).split("\n")
    # The first line may be cut, the last one is what follows the final newline.
    return [line for line in lines[bool(start) :] if line][-(count or 0) :]


async def follow(world: World, wanted: ReadLogs) -> AsyncIterator[LogLines]:
    """The last lines, then whatever is added, also after the file was rotated."""
    path = where(world).log_file
    tail = Tail(path)
    sieve = Sieve(wanted.level)
    yield await run(world, wanted)
    while True:
        if lines := sieve.passed(tail.new_lines()):
            yield LogLines(path=path, level=wanted.level, lines=tuple(redact(line) for line in lines))
        await world.clock.sleep(_LOOK_EVERY)


class Tail:
    """What is added to a log from now on. A file that was rotated away is read to its end, then its successor."""

    def __init__(self, path: str):
        self._path, self._rest = path, b""
        self._inode, self._at = _extent(path)

    def new_lines(self) -> list[str]:
        data = self._rest
        inode, _ = _extent(self._path)
        if inode != self._inode:
            if _extent(self._path + ".1")[0] == self._inode:
                data += _read_from(self._path + ".1", self._at)
            self._inode, self._at = inode, 0
        fresh = _read_from(self._path, self._at)
        self._at += len(fresh)
        *lines, self._rest = (data + fresh).split(b"\n")
        return [line.decode(errors="replace") for line in lines if line]


def _extent(path: str) -> tuple[int, int]:
    """A file's inode and size; zeros where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_size


def _read_from(path: str, start: int) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}") from error


class Sieve:
    """Lets pass what is at least this serious; the lines of a trace go with the line they belong to."""

    def __init__(self, level: LogLevel | None):
        self._least = _LEVELS.index(level) if level else -1
        self._is_open = level is None

    def passed(self, lines: Sequence[str]) -> list[str]:
        return [line for line in lines if self._passes(line)]

    def _passes(self, line: str) -> bool:
        found = _HEAD.match(line)
        if found and found[1].lower() in _LEVELS:
            self._is_open = _LEVELS.index(found[1].lower()) >= self._least
        return self._is_open


def plain(log: LogLines, look: Look) -> str:
    if not log.lines:
        why = f"holds nothing of level {log.level} or worse" if log.level else "is empty: no daemon has run yet"
        return "" if look.is_quiet else clean(f"{log.path} {why}.")
    return block("\n".join(clean(line) for line in log.lines), look)


OP = Op(
    name="logs",
    summary="The last lines of the daemon's own log.",
    doc="""Read from the file, so it works while no daemon runs. The log is rotated by size and holds no secrets.
With `--follow` it goes on until you end it; in JSON each piece is one object a line.""",
    Input=ReadLogs,
    Output=LogLines,
    run=run,
    plain=plain,
    follow=follow,
    is_live=True,
    effect="local",
    examples=(
        Example("logs", "the last 50 lines"),
        Example("logs -n 500 --level warning", "what went wrong lately"),
        Example("logs -f", "watch it"),
    ),
)
