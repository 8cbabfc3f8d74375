"""Store shell commands with their output lines; query them by pane, time, status and text."""

from typing import Literal

from termvisor.model.ids import CommandId, EpochId, PaneId
from termvisor.model.terminal.command import CommandBoundary, CommandUpdate, ShellCommand
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import RowSelector, StoreTable, build_where, run_read

_COMMANDS = RowSelector(ShellCommand, "command", decoders={"is_proven": bool})
_UPDATE_COMMAND = (
    'UPDATE command SET "end" = ?, line = ?, cwd = ?, started_at = ?, ended_at = ?, exit_code = ?, is_proven = ?,'
    " status = ? WHERE epoch = ? AND start = ?"
)
_INSERT_COMMAND = (
    'INSERT INTO command ("end", line, cwd, started_at, ended_at, exit_code, is_proven, status, epoch, start, pane)'
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class CommandTable(StoreTable):
    async def find(self, pane: PaneId, which: CommandId | Literal["last"]) -> ShellCommand | None:
        """Return the command with this id in the pane, or the last one if no id is given."""
        if which == "last":
            return await self._find_first("WHERE pane = ? ORDER BY id DESC", pane)
        return await self._find_first("WHERE pane = ? AND id = ?", pane, which)

    async def find_after_line(self, pane: PaneId, line: int) -> ShellCommand | None:
        """Return the first command of a pane whose output begins after this line number."""
        return await self._find_first("WHERE pane = ? AND first_line > ? ORDER BY first_line, id", pane, line)

    @run_read
    def list(
        self,
        connection: Connection,
        *,
        pane: PaneId | None = None,
        since: int | None = None,
        failed: bool = False,
        text: str | None = None,
        limit: int = 20,
    ) -> list[ShellCommand]:
        """Return the newest commands that match all filters, oldest first."""
        conditions = {
            "pane = ?": pane,
            "started_at >= ?": since,
            "exit_code != ?": 0 if failed else None,
            "instr(lower(line), lower(?)) > 0": text,
        }
        where, values = build_where(conditions)
        clauses = f"WHERE {where} ORDER BY id DESC LIMIT ?"
        return _COMMANDS.list(connection, clauses, (*values, max(0, limit)))[::-1]

    @run_read
    def _find_first(self, connection: Connection, clauses: str, *values: int) -> ShellCommand | None:
        return _COMMANDS.find(connection, clauses, values)


def save_command_update(connection: Connection, pane: PaneId, epoch: EpochId, update: CommandUpdate) -> None:
    """Store the known fields of a command; the first update inserts it and assigns its id."""
    row = (
        update.end,
        update.line,
        update.cwd,
        update.started_at,
        update.ended_at,
        update.exit_code,
        update.is_proven,
        update.status,
    )
    connection.execute(_UPDATE_COMMAND, (*row, epoch, update.start))
    # A command is updated several times (start, exit code) and identified by its start offset in the epoch.
    if not connection.changes():
        connection.execute(_INSERT_COMMAND, (*row, epoch, update.start, pane))


def set_output_boundary(connection: Connection, epoch: EpochId, boundary: CommandBoundary, line_number: int) -> None:
    """Store the number of the first line after the start or the end of a command's output."""
    change = "last_line = ? - 1" if boundary.is_end else "first_line = ?"
    connection.execute(
        f"UPDATE command SET {change} WHERE epoch = ? AND start = ?", (line_number, epoch, boundary.command)
    )


def mark_running_lost(connection: Connection, epoch: EpochId, size: int) -> None:
    """Mark the running commands of an epoch that ended as lost: their end was not captured."""
    connection.execute(
        "UPDATE command SET status = 'lost', \"end\" = ?, last_line = max(first_line,"
        " (SELECT next_line FROM pane WHERE pane.id = command.pane)) - 1 WHERE epoch = ? AND status = 'running'",
        (size, epoch),
    )
