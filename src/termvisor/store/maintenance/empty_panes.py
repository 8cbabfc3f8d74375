"""Panes of which nothing is left are forgotten. Their ids are not given again.

What something still refers to cannot be deleted: the database refuses, and the pane stays until the next time.
"""

from collections.abc import Mapping
from typing import cast

import apsw

from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection

_MAX_PANES_PER_CALL = 50
_SELECT_EMPTY_PANES = """
SELECT id FROM pane WHERE gone_at < ?
   AND NOT EXISTS (SELECT 1 FROM block WHERE block.pane = pane.id)
   AND NOT EXISTS (SELECT 1 FROM mark WHERE mark.pane = pane.id)
   AND NOT EXISTS (SELECT 1 FROM epoch WHERE epoch.pane = pane.id AND (closed_at IS NULL OR committed < size))
 ORDER BY id LIMIT ?
"""


def delete_empty_panes(connection: Connection, before: int, on_disk: set[PaneId]) -> list[PaneId]:
    """Delete panes that were gone before this instant, their epochs, and servers without panes; which panes."""
    found = connection.execute(_SELECT_EMPTY_PANES, (before, _MAX_PANES_PER_CALL + len(on_disk))).fetchall()
    forgotten = [pane for (pane,) in cast("list[tuple[PaneId]]", found) if pane not in on_disk][:_MAX_PANES_PER_CALL]
    done = [pane for pane in forgotten if _delete_pane(connection, pane)]
    if done:
        connection.execute("DELETE FROM server WHERE id NOT IN (SELECT server FROM pane)")
    return done


def _delete_pane(connection: Connection, pane: PaneId) -> bool:
    try:
        with connection:
            connection.execute("DELETE FROM epoch WHERE pane = ?", (pane,))
            connection.execute("DELETE FROM pane WHERE id = ?", (pane,))
    except apsw.ConstraintError:
        return False
    return True


def reserve_row_ids(connection: Connection, highest: Mapping[str, int]) -> None:
    """New rows of these tables get ids beyond the given ones."""
    for table, number in highest.items():
        known: int | None = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
        if known is None:
            connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, number))
        elif known < number:
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (number, table))
