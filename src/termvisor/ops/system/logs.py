"""The op `logs`: the last lines of the daemon's own log, and those that come."""

import os
import re
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, get_args

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import get_paths
from termvisor.ops.render.text import RenderOptions, render_code_block, sanitize
from termvisor.redaction import redact
from termvisor.settings import LogLevel

_BYTES_PER_LINE = 400
"""Bytes read for each line that is asked for; a log line is seldom longer."""


_POLL_INTERVAL_S = 0.2
"""Seconds between two looks at a followed file."""
_LEVELS = get_args(LogLevel)
_LINE_START = re.compile(r"\d{4}-\d\d-\d\d [\d:,]+ ([A-Z]+) ")


class LogsArgs(Struct, frozen=True, kw_only=True):
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


async def run(services: Services, args: LogsArgs) -> LogLines:
    path = get_paths(services).log_file
    sieve = LogLevelFilter(args.level)
    count = args.tail if args.level is None else None
    lines = sieve.filter_lines([*_read_last_lines(path + ".1", count), *_read_last_lines(path, count)])
    return LogLines(path=path, level=args.level, lines=tuple(lines[-args.tail :]))


def _read_last_lines(path: str, count: int | None) -> list[str]:
    """The last lines of a file, or all of them; an absent one has none."""
    start = max(0, _get_inode_and_size(path)[1] - count * _BYTES_PER_LINE) if count is not None else 0
    lines = redact(_read_from(path, start).decode(errors="replace")).split("\n")
    # The first line may be cut, the last one is what follows the final newline.
    return [line for line in lines[bool(start) :] if line][-(count or 0) :]


async def follow(services: Services, args: LogsArgs) -> AsyncIterator[LogLines]:
    """The last lines, then whatever is added, also after the file was rotated."""
    path = get_paths(services).log_file
    tail = LogTail(path)
    sieve = LogLevelFilter(args.level)
    yield await run(services, args)
    while True:
        if lines := sieve.filter_lines(tail.read_new_lines()):
            yield LogLines(path=path, level=args.level, lines=tuple(redact(line) for line in lines))
        await services.clock.sleep(_POLL_INTERVAL_S)


class LogTail:
    """What is added to a log from now on. A file that was rotated away is read to its end, then its successor."""

    def __init__(self, path: str):
        self._path, self._unfinished_line = path, b""
        self._inode, self._offset = _get_inode_and_size(path)

    def read_new_lines(self) -> list[str]:
        data = self._unfinished_line
        inode, _ = _get_inode_and_size(self._path)
        if inode != self._inode:
            if _get_inode_and_size(self._path + ".1")[0] == self._inode:
                data += _read_from(self._path + ".1", self._offset)
            self._inode, self._offset = inode, 0
        fresh = _read_from(self._path, self._offset)
        self._offset += len(fresh)
        *lines, self._unfinished_line = (data + fresh).split(b"\n")
        return [line.decode(errors="replace") for line in lines if line]


def _get_inode_and_size(path: str) -> tuple[int, int]:
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


class LogLevelFilter:
    """Lets pass what is at least this serious; the lines of a trace go with the line they belong to."""

    def __init__(self, level: LogLevel | None):
        self._min_level = _LEVELS.index(level) if level else -1
        self._is_last_passing = level is None

    def filter_lines(self, lines: Sequence[str]) -> list[str]:
        return [line for line in lines if self._is_passing(line)]

    def _is_passing(self, line: str) -> bool:
        found = _LINE_START.match(line)
        if found and found[1].lower() in _LEVELS:
            self._is_last_passing = _LEVELS.index(found[1].lower()) >= self._min_level
        return self._is_last_passing


def render_text(result: LogLines, options: RenderOptions) -> str:
    if not result.lines:
        why = f"holds nothing of level {result.level} or worse" if result.level else "is empty: no daemon has run yet"
        return "" if options.is_quiet else sanitize(f"{result.path} {why}.")
    return render_code_block("\n".join(sanitize(line) for line in result.lines), options)


OP = Operation(
    name="logs",
    summary="The last lines of the daemon's own log.",
    doc="""Read from the file, so it works while no daemon runs. The log is rotated by size and holds no secrets.
With `--follow` it goes on until you end it; in JSON each piece is one object a line.""",
    args_type=LogsArgs,
    result_type=LogLines,
    run=run,
    render_text=render_text,
    follow=follow,
    is_live=True,
    effect="local",
    examples=(
        OperationExample("logs", "the last 50 lines"),
        OperationExample("logs -n 500 --level warning", "what went wrong lately"),
        OperationExample("logs -f", "watch it"),
    ),
)
