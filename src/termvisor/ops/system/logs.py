"""Operation `logs`: show and follow the daemon's log."""

import os
import re
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, get_args

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, render_code_block, sanitize
from termvisor.redaction import redact
from termvisor.settings import LogLevel

# Bytes read per requested line; log lines are rarely longer.
_BYTES_PER_LINE = 400
# Seconds between two reads of a followed file.
_POLL_INTERVAL_S = 0.2
_LEVELS = get_args(LogLevel)
# Lines of a traceback have no time stamp.
_LINE_START = re.compile(r"\d{4}-\d\d-\d\d [\d:,]+ ([A-Z]+) ")


class LogsArgs(Struct, frozen=True, kw_only=True):
    """Which part of the log to show."""

    tail: Annotated[
        int, Meta(description="Number of lines from the end.", ge=1, le=100_000, extra={"short": ("-n",)})
    ] = 50
    level: Annotated[LogLevel | None, Meta(description="Minimum level.")] = None
    follow: Annotated[bool, Meta(description="Keep printing new lines.", extra={"short": ("-f",)})] = False


class LogLines(Struct, frozen=True, kw_only=True):
    path: str
    level: LogLevel | None
    lines: tuple[str, ...]


async def run(services: Services, args: LogsArgs) -> LogLines:
    path = services.paths.log_file
    level_filter = LogLevelFilter(args.level)
    # With a level, the number of lines to read in order to find enough is unknown.
    count = args.tail if args.level is None else None
    # Right after a rotation the new file has fewer lines than requested.
    lines = level_filter.filter_lines([*_read_last_lines(path + ".1", count), *_read_last_lines(path, count)])
    return LogLines(path=path, level=args.level, lines=tuple(lines[-args.tail :]))


def _read_last_lines(path: str, count: int | None) -> list[str]:
    """Return the last ``count`` lines of a file, or all; none if the file does not exist."""
    start = max(0, _get_inode_and_size(path)[1] - count * _BYTES_PER_LINE) if count is not None else 0
    lines = redact(_read_from(path, start).decode(errors="replace")).split("\n")
    # The first line may be cut off, and the last one is the text after the final newline.
    return [line for line in lines[bool(start) :] if line][-(count or 0) :]


async def follow(services: Services, args: LogsArgs) -> AsyncIterator[LogLines]:
    """Yield the last lines, then new ones, even after the file is rotated."""
    path = services.paths.log_file
    tail = LogTail(path)
    level_filter = LogLevelFilter(args.level)
    yield await run(services, args)
    while True:
        if lines := level_filter.filter_lines(tail.read_new_lines()):
            yield LogLines(path=path, level=args.level, lines=tuple(redact(line) for line in lines))
        await services.clock.sleep(_POLL_INTERVAL_S)


class LogTail:
    """Reads lines appended to a log. After a rotation, the old file is read to its end, then the new one."""

    def __init__(self, path: str):
        self._path, self._unfinished_line = path, b""
        self._inode, self._offset = _get_inode_and_size(path)

    def read_new_lines(self) -> list[str]:
        # The daemon may have written only a part of its last line.
        data = self._unfinished_line
        inode, _ = _get_inode_and_size(self._path)
        # Rotation renames the file to `.1`; lines appended before that are still unread.
        if inode != self._inode:
            if _get_inode_and_size(self._path + ".1")[0] == self._inode:
                data += _read_from(self._path + ".1", self._offset)
            self._inode, self._offset = inode, 0
        fresh = _read_from(self._path, self._offset)
        self._offset += len(fresh)
        *lines, self._unfinished_line = (data + fresh).split(b"\n")
        return [line.decode(errors="replace") for line in lines if line]


def _get_inode_and_size(path: str) -> tuple[int, int]:
    """Return inode and size of a file; zeros if it does not exist."""
    try:
        status = os.stat(path)
    # No daemon has run yet, or the log was never rotated.
    except FileNotFoundError:
        return 0, 0
    return status.st_ino, status.st_size


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
    """Selects lines of at least this level; traceback lines belong to the line before them."""

    def __init__(self, level: LogLevel | None):
        self._min_level = _LEVELS.index(level) if level else -1
        self._is_last_passing = level is None

    def filter_lines(self, lines: Sequence[str]) -> list[str]:
        return [line for line in lines if self._is_passing(line)]

    def _is_passing(self, line: str) -> bool:
        start = _LINE_START.match(line)
        if start and start[1].lower() in _LEVELS:
            self._is_last_passing = _LEVELS.index(start[1].lower()) >= self._min_level
        return self._is_last_passing


def render_text(result: LogLines, options: RenderOptions) -> str:
    if not result.lines:
        why = f"has no lines of level {result.level} or higher" if result.level else "is empty: no daemon has run yet"
        return "" if options.is_quiet else sanitize(f"{result.path} {why}.")
    return render_code_block("\n".join(sanitize(line) for line in result.lines), options)


OP = Operation(
    name="logs",
    summary="Show or follow the daemon's log.",
    doc="""Reads the file, so it also works without a daemon. The log is rotated by size, and secrets are redacted.
`--follow` runs until you interrupt it; with JSON output each batch is one object per line.""",
    run=run,
    render_text=render_text,
    is_verbatim=True,
    follow=follow,
    is_live=True,
    effect="local",
    examples=(
        OperationExample("logs", "show the last 50 lines"),
        OperationExample("logs -n 500 --level warning", "show warnings and errors"),
        OperationExample("logs -f", "follow the log"),
    ),
)
