"""The op `logs`: the last lines of the daemon's own log."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.base import Example, Op
from termvisor.ops.configuration import where
from termvisor.ops.look import Look, block, clean
from termvisor.ops.world import World
from termvisor.redact import redact

_PER_LINE = 400
"""Bytes read for each line that is asked for; a log line is seldom longer."""


class ReadLogs(Struct, frozen=True, kw_only=True):
    """How much of the log to show."""

    tail: Annotated[
        int, Meta(description="How many of the last lines.", ge=1, le=100_000, extra={"short": ("-n",)})
    ] = 50


class LogLines(Struct, frozen=True, kw_only=True):
    path: str
    lines: tuple[str, ...]


async def run(world: World, wanted: ReadLogs) -> LogLines:
    path = where(world).log_file
    lines = _last(path + ".1", wanted.tail) + _last(path, wanted.tail)
    return LogLines(path=path, lines=tuple(lines[-wanted.tail :]))


def _last(path: str, count: int) -> list[str]:
    """The last lines of a file; an absent one has none."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            start = max(0, file.tell() - count * _PER_LINE)
            file.seek(start)
            lines = redact(file.read().decode(errors="replace")).split("\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}") from error
    # The first line may be cut, the last one is what follows the final newline.
    return [line for line in lines[bool(start) :] if line][-count:]


def plain(log: LogLines, look: Look) -> str:
    if not log.lines:
        return "" if look.is_quiet else clean(f"{log.path} is empty: no daemon has run yet.")
    return block("\n".join(clean(line) for line in log.lines), look)


OP = Op(
    name="logs",
    summary="The last lines of the daemon's own log.",
    doc="Read from the file, so it works while no daemon runs. The log is rotated by size and holds no secrets.",
    Input=ReadLogs,
    Output=LogLines,
    run=run,
    plain=plain,
    effect="local",
    examples=(Example("logs", "the last 50 lines"), Example("logs -n 500", "more of them")),
)
