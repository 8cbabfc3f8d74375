"""Shell commands: the typed line, the exit status, and the lines of output."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import CommandId, EpochId, PaneId

CommandStatus = Literal["running", "finished", "lost"]
"""``lost``: the end was not captured. Another prompt or command began, or its epoch closed, while it was running."""


class ShellCommand(Struct, frozen=True, kw_only=True):
    """``start`` and ``end`` are byte offsets in the epoch; ``id`` increases in start order.

    Its output is the lines ``first_line`` to ``last_line``. Without output, ``last_line`` is one less than
    ``first_line``. While it is running, ``end`` and ``last_line`` are None. For a lost command they mark where
    tracking stopped, and its end time and exit status are unknown. ``is_proven`` is true only if start and end marks
    carried the nonce.
    """

    id: CommandId = CommandId(0)
    pane: PaneId
    epoch: EpochId
    line: str | None = None
    """The typed line, redacted; None if the shell did not report it."""
    cwd: str | None = None
    """The folder that the shell last reported (OSC 7), redacted and not trusted."""
    started_at: int
    ended_at: int | None = None
    exit_code: int | None = None
    start: int
    end: int | None = None
    first_line: int
    last_line: int | None = None
    is_proven: bool = False
    status: CommandStatus = "running"


class CommandUpdate(Struct, frozen=True, kw_only=True):
    """Fields known from the marks of the command that started at offset ``start`` of its epoch. For its lines see
    `CommandBoundary`."""

    start: int
    started_at: int
    line: str | None = None
    cwd: str | None = None
    ended_at: int | None = None
    exit_code: int | None = None
    end: int | None = None
    is_proven: bool = False
    status: CommandStatus = "running"


class CommandBoundary(Struct, frozen=True, array_like=True):
    """The start or end of a command's output: just before the first line that starts at offset ``row`` or later."""

    command: int
    """The offset at which the command started."""
    row: int
    is_end: bool
