"""Commands that shells ran: written together with the lines they are about, read back by pane, time and text."""

from typing import Any, Literal

from termvisor.model.ids import CommandId, EpochId, PaneId
from termvisor.model.terminal.command import Command, CommandTold, Edge
from termvisor.store.sqlite.database import Connection, Database

_COMMAND = (
    'SELECT id, pane, epoch, start, "end", line, cwd, started_at, ended_at, exit_code, first_line, last_line,'
    " is_proven, status FROM command"
)
_UPDATE = (
    'UPDATE command SET "end" = ?, line = ?, cwd = ?, started_at = ?, ended_at = ?, exit_code = ?, is_proven = ?,'
    " status = ? WHERE epoch = ? AND start = ?"
)
_INSERT = (
    'INSERT INTO command ("end", line, cwd, started_at, ended_at, exit_code, is_proven, status, epoch, start, pane)'
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Commands:
    def __init__(self, db: Database):
        self._db = db

    async def one(self, pane: PaneId, which: CommandId | Literal["last"]) -> Command | None:
        """The command of that id in this pane, or the one that started last."""
        if which == "last":
            return await self._first("pane = ? ORDER BY id DESC", pane)
        return await self._first("pane = ? AND id = ?", pane, which)

    async def following(self, pane: PaneId, line: int) -> Command | None:
        """The first command of a pane whose output begins after this line number."""
        return await self._first("pane = ? AND first_line > ? ORDER BY first_line, id", pane, line)

    async def list(
        self,
        *,
        pane: PaneId | None = None,
        since: int | None = None,
        failed: bool = False,
        text: str | None = None,
        limit: int = 20,
    ) -> list[Command]:
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
                _command(row)
                for row in connection.execute(
                    f"{_COMMAND} WHERE {where} ORDER BY id DESC LIMIT ?", (*given.values(), max(0, limit))
                )
            ][::-1]
        )

    async def _first(self, where: str, *values: int) -> Command | None:
        found = await self._db.read(
            lambda connection: connection.execute(f"{_COMMAND} WHERE {where} LIMIT 1", values).fetchone()
        )
        return None if found is None else _command(found)


def tell(connection: Connection, pane: PaneId, epoch: EpochId, told: CommandTold) -> None:
    """Store what is known of a command; its first telling gives it its id."""
    row = (told.end, told.line, told.cwd, told.started_at, told.ended_at, told.exit_code, told.is_proven, told.status)
    connection.execute(_UPDATE, (*row, epoch, told.start))
    if not connection.changes():
        connection.execute(_INSERT, (*row, epoch, told.start, pane))


def bound(connection: Connection, epoch: EpochId, edge: Edge, number: int) -> None:
    """The first line beyond an edge has this number."""
    change = "last_line = ? - 1" if edge.is_end else "first_line = ?"
    connection.execute(f"UPDATE command SET {change} WHERE epoch = ? AND start = ?", (number, epoch, edge.command))


def lose(connection: Connection, epoch: EpochId, size: int) -> None:
    """No more will come of this epoch: what still runs in it is lost."""
    connection.execute(
        "UPDATE command SET status = 'lost', \"end\" = ?, last_line = max(first_line,"
        " (SELECT next_line FROM pane WHERE pane.id = command.pane)) - 1 WHERE epoch = ? AND status = 'running'",
        (size, epoch),
    )


def _command(row: tuple[Any, ...]) -> Command:
    number, pane, epoch, start, end, line, cwd, started_at, ended_at, exit_code, first, last, is_proven, status = row
    return Command(
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
