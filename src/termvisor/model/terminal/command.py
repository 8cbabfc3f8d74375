"""A Command is one line that a shell ran: what was typed, how it ended, and which lines are its output."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import CommandId, EpochId, PaneId

CommandStatus = Literal["running", "finished", "lost"]
"""Lost: its end was never told. Another prompt or command began, or its epoch closed, while it still ran."""


class ShellCommand(Struct, frozen=True, kw_only=True):
    """``start`` and ``end`` are byte offsets in the epoch; ``id`` rises in the order in which commands started.

    Its output are the lines ``first_line`` to ``last_line``; without output ``last_line`` is one less than
    ``first_line``. While it runs ``end`` and ``last_line`` are None. Of a lost command they say where it was given up;
    when it ended and with which status is not known. ``is_proven`` is true only when start and end carried our nonce.
    """

    id: CommandId = CommandId(0)
    pane: PaneId
    epoch: EpochId
    line: str | None = None
    """What was typed, redacted; None when the shell did not tell."""
    cwd: str | None = None
    """The folder that the shell last told (OSC 7), redacted; a hint, no proof."""
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
    """All that marks have told of the command that started at ``start`` of its epoch, but for its lines: see Edge."""

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
    """Where the output of a command begins or ends: just before the first line that starts at ``row`` or after it."""

    command: int
    """The offset at which the command started."""
    row: int
    is_end: bool
