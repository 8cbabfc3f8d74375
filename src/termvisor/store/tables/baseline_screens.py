"""Store the screen that a pane showed when its capture began, one for each epoch."""

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.rows import replace_surrogates


class BaselineScreenTable:
    def __init__(self, db: Database):
        self._db = db

    async def save(self, epoch: EpochId, screen: Screen) -> None:
        """Store the baseline screen of an epoch; its rows must be redacted."""
        await self._db.write(lambda connection: _save_screen(connection, epoch, screen))

    async def find_by_pane(self, pane: PaneId) -> dict[EpochId, Screen]:
        return await self._db.read(lambda connection: _find_by_pane(connection, pane))


def _save_screen(connection: Connection, epoch: EpochId, screen: Screen) -> None:
    place = (screen.width, screen.height, screen.cursor_x, screen.cursor_y, screen.alternate)
    text = replace_surrogates("\n".join(row.replace("\n", " ") for row in screen.rows))
    connection.execute(
        "INSERT OR REPLACE INTO first_screen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (epoch, screen.pane, screen.at, *place, text),
    )


def _find_by_pane(connection: Connection, pane: PaneId) -> dict[EpochId, Screen]:
    stored = connection.execute(
        "SELECT epoch, at, width, height, cursor_x, cursor_y, is_alternate, rows FROM first_screen WHERE pane = ?",
        (pane,),
    )
    return {
        epoch: Screen(
            pane=pane,
            rows=tuple(rows.split("\n")),
            width=width,
            height=height,
            cursor_x=x,
            cursor_y=y,
            alternate=bool(is_alternate),
            at=at,
        )
        for epoch, at, width, height, x, y, is_alternate, rows in stored
    }
