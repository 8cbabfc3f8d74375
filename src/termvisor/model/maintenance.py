"""Values of maintenance: runs, backups, restores, integrity checks, and reloads of settings and rules."""

from msgspec import Struct


class MaintenanceRun(Struct, frozen=True, kw_only=True):
    """One maintenance run. ``rows`` and ``bytes`` were removed, rewritten or written; ``duration`` is in seconds."""

    operation: str
    started_at: int
    duration: float = 0.0
    rows: int = 0
    bytes: int = 0
    detail: str = ""
    is_done: bool = True
    """False while it is running: then the numbers are its progress."""


class DatabaseContents(Struct, frozen=True, kw_only=True):
    """Contents of a database file: numbers of rows, and the time of the newest event."""

    version: int
    """Schema version; a newer Termvisor migrates an older file when it opens it."""
    panes: int = 0
    lines: int = 0
    events: int = 0
    newest_at: int | None = None


class DatabaseBackup(Struct, frozen=True, kw_only=True):
    """A consistent copy of the database, synced to disk."""

    path: str
    bytes: int
    taken_at: int
    contents: DatabaseContents


class RestoreSummary(Struct, frozen=True, kw_only=True):
    """Backup and present database of a restore. ``kept`` is the name under which the previous database is kept."""

    backup: DatabaseContents
    backup_bytes: int
    present: DatabaseContents | None
    """None if there is no database, or a damaged one."""
    kept: str | None = None


class IntegrityReport(Struct, frozen=True, kw_only=True):
    """Result of an integrity check; ``wrong`` is the damage, empty if there is none."""

    path: str
    is_thorough: bool
    wrong: str = ""
    duration: float = 0.0


class RulesReloadResult(Struct, frozen=True, kw_only=True):
    """``count`` is the number of active rules, None if nothing changed. With ``troubles`` the old rules stay active."""

    count: int | None = None
    troubles: tuple[str, ...] = ()


class ReloadResult(Struct, frozen=True, kw_only=True):
    """Names of settings: ``applied`` are in effect now, ``needs_restart`` changed and take effect after a restart."""

    applied: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
    rules: RulesReloadResult = RulesReloadResult()
