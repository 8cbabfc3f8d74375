"""Delete panes that are gone and have no text, marks or unread output left. Their ids are not reused."""

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
    """Delete panes gone before this time, their epochs, and servers without panes; return the deleted panes.

    Panes in ``on_disk`` still have raw log files and are kept.
    """
    rows = connection.execute(_SELECT_EMPTY_PANES, (before, _MAX_PANES_PER_CALL + len(on_disk))).fetchall()
    empty = [pane for (pane,) in cast("list[tuple[PaneId]]", rows) if pane not in on_disk][:_MAX_PANES_PER_CALL]
    deleted = [pane for pane in empty if _delete_pane(connection, pane)]
    if deleted:
        connection.execute("DELETE FROM server WHERE id NOT IN (SELECT server FROM pane)")
    return deleted


def _delete_pane(connection: Connection, pane: PaneId) -> bool:
    try:
        with connection:
            connection.execute("DELETE FROM epoch WHERE pane = ?", (pane,))
            connection.execute("DELETE FROM pane WHERE id = ?", (pane,))
    except apsw.ConstraintError:  # another row still refers to the pane; the next call tries again
        return False
    return True
