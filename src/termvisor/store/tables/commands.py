"""Commands that shells ran: written together with the lines they are about, read back by pane, time and text."""

from typing import Any, Literal

from termvisor.model.ids import CommandId, EpochId, PaneId
from termvisor.model.terminal.command import CommandBoundary, CommandUpdate, ShellCommand
from termvisor.store.sqlite.database import Connection, Database

_SELECT_COMMAND = (
    'SELECT id, pane, epoch, start, "end", line, cwd, started_at, ended_at, exit_code, first_line, last_line,'
    " is_proven, status FROM command"
)
_UPDATE_COMMAND = (
    'UPDATE command SET "end" = ?, line = ?, cwd = ?, started_at = ?, ended_at = ?, exit_code = ?, is_proven = ?,'
    " status = ? WHERE epoch = ? AND start = ?"
)
_INSERT_COMMAND = (
    'INSERT INTO command ("end", line, cwd, started_at, ended_at, exit_code, is_proven, status, epoch, start, pane)'
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class CommandTable:
    def __init__(self, db: Database):
        self._db = db

    async def find(self, pane: PaneId, which: CommandId | Literal["last"]) -> ShellCommand | None:
        """The command of that id in this pane, or the one that started last."""
        if which == "last":
            return await self._find_first("pane = ? ORDER BY id DESC", pane)
        return await self._find_first("pane = ? AND id = ?", pane, which)

    async def find_after_line(self, pane: PaneId, line: int) -> ShellCommand | None:
        """The first command of a pane whose output begins after this line number."""
        return await self._find_first("pane = ? AND first_line > ? ORDER BY first_line, id", pane, line)

    async def list(
        self,
        *,
        pane: PaneId | None = None,
        since: int | None = None,
        failed: bool = False,
        text: str | None = None,
        limit: int = 20,
    ) -> list[ShellCommand]:
        """The newest ones, oldest first."""
        conditions: dict[str, int | str | None] = {
            "pane = ?": pane,
            "started_at >= ?": since,
            "exit_code != ?": 0 if failed else None,
            "instr(lower(line), lower(?)) > 0": text,
        }
        given = {condition: value for condition, value in conditions.items() if value is not None}
        where = " AND ".join(given) or "TRUE"
        return await self._db.read(
            lambda connection: [
                _build_command(row)
                for row in connection.execute(
                    f"{_SELECT_COMMAND} WHERE {where} ORDER BY id DESC LIMIT ?", (*given.values(), max(0, limit))
                )
            ][::-1]
        )

    async def _find_first(self, where: str, *values: int) -> ShellCommand | None:
        found = await self._db.read(
            lambda connection: connection.execute(f"{_SELECT_COMMAND} WHERE {where} LIMIT 1", values).fetchone()
        )
        return None if found is None else _build_command(found)


def save_command_update(connection: Connection, pane: PaneId, epoch: EpochId, update: CommandUpdate) -> None:
    """Store what is known of a command; its first telling gives it its id."""
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
    if not connection.changes():
        connection.execute(_INSERT_COMMAND, (*row, epoch, update.start, pane))


def set_output_boundary(connection: Connection, epoch: EpochId, boundary: CommandBoundary, line_number: int) -> None:
    """The first line beyond an edge has this number."""
    change = "last_line = ? - 1" if boundary.is_end else "first_line = ?"
    connection.execute(
        f"UPDATE command SET {change} WHERE epoch = ? AND start = ?", (line_number, epoch, boundary.command)
    )


def mark_running_lost(connection: Connection, epoch: EpochId, size: int) -> None:
    """No more will come of this epoch: what still runs in it is lost."""
    connection.execute(
        "UPDATE command SET status = 'lost', \"end\" = ?, last_line = max(first_line,"
        " (SELECT next_line FROM pane WHERE pane.id = command.pane)) - 1 WHERE epoch = ? AND status = 'running'",
        (size, epoch),
    )


def _build_command(row: tuple[Any, ...]) -> ShellCommand:
    number, pane, epoch, start, end, line, cwd, started_at, ended_at, exit_code, first, last, is_proven, status = row
    return ShellCommand(
        id=number,
        pane=pane,
        epoch=epoch,
        line=line,
        cwd=cwd,
        started_at=started_at,
        ended_at=ended_at,
        exit_code=exit_code,
        start=start,
        end=end,
        first_line=first,
        last_line=last,
        is_proven=bool(is_proven),
        status=status,
    )
