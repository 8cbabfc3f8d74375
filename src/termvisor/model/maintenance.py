"""What keeps the product well: maintenance runs, copies of the database, and what one holds."""

from msgspec import Struct


class MaintenanceRun(Struct, frozen=True, kw_only=True):
    """One piece of upkeep. ``rows`` and ``bytes`` are what it removed, rewrote or made, ``duration`` is in seconds."""

    operation: str
    started_at: int
    duration: float = 0.0
    rows: int = 0
    bytes: int = 0
    detail: str = ""
    is_done: bool = True
    """False while it goes on: then the numbers are what was reached so far."""


class DatabaseContents(Struct, frozen=True, kw_only=True):
    """What a database file holds. ``lines`` counts the lines that are kept, ``newest_at`` is its newest event."""

    version: int
    """The schema's; a newer Termvisor brings an older one up to date when it opens the file."""
    panes: int = 0
    lines: int = 0
    events: int = 0
    newest_at: int | None = None


class DatabaseBackup(Struct, frozen=True, kw_only=True):
    """A consistent copy of the database, complete and safe on disk."""

    path: str
    bytes: int
    taken_at: int
    contents: DatabaseContents


class RestoreSummary(Struct, frozen=True, kw_only=True):
    """What a restore puts in the place of what. ``kept`` is the name under which the database before it is kept."""

    backup: DatabaseContents
    backup_bytes: int
    present: DatabaseContents | None
    """None where there is no database, or one that cannot be read."""
    kept: str | None = None


class IntegrityReport(Struct, frozen=True, kw_only=True):
    """What an examination of the database found; ``wrong`` is empty when all is well."""

    path: str
    is_thorough: bool
    wrong: str = ""
    duration: float = 0.0
