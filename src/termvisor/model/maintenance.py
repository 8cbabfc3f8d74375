"""Maintenance values: runs, backups, restores, integrity checks, and reloads of settings and rules."""

from msgspec import Struct


class MaintenanceRun(Struct, frozen=True, kw_only=True):
    """A maintenance run. ``rows`` and ``bytes`` count what it removed or wrote; ``duration`` is in seconds."""

    operation: str
    started_at: int
    duration: float = 0.0
    rows: int = 0
    bytes: int = 0
    detail: str = ""
    is_done: bool = True
    """False while the run is in progress. The numbers then show its progress."""


class DatabaseContents(Struct, frozen=True, kw_only=True):
    """Contents of a database file: row counts and the time of the newest event."""

    version: int
    """Schema version. A newer Termvisor migrates an older file when opening it."""
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
    """The backup and the current database in a restore. The previous database is kept under the name ``kept``."""

    backup: DatabaseContents
    backup_bytes: int
    present: DatabaseContents | None
    """The current database; None if there is none or it is damaged."""
    kept: str | None = None


class IntegrityReport(Struct, frozen=True, kw_only=True):
    """Result of an integrity check. ``wrong`` describes the damage; empty if there is none."""

    path: str
    is_thorough: bool
    wrong: str = ""
    duration: float = 0.0


class RulesReloadResult(Struct, frozen=True, kw_only=True):
    """``count`` is the number of active rules, None if nothing changed. With ``troubles`` the old rules stay active."""

    count: int | None = None
    troubles: tuple[str, ...] = ()


class DescriptionsReloadResult(Struct, frozen=True, kw_only=True):
    """``changed`` are the agents whose description is new, different or gone. Files with ``troubles`` are left out."""

    changed: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()


class ReloadResult(Struct, frozen=True, kw_only=True):
    """Names of changed settings: ``applied`` are in effect now, ``needs_restart`` take effect after a restart."""

    applied: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
    rules: RulesReloadResult = RulesReloadResult()
    descriptions: DescriptionsReloadResult = DescriptionsReloadResult()
