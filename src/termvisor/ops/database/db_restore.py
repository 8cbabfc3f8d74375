"""The operation `db_restore`: replace the database with a backup while no daemon is running."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import SystemClock
from termvisor.errors import ConfirmationRequired, StorageError
from termvisor.model.action.action import RestoreData
from termvisor.model.maintenance import DatabaseContents, RestoreSummary
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields, format_optional_timestamp
from termvisor.ops.render.text import RenderOptions, format_bytes, pluralize, sanitize
from termvisor.settings import Paths, make_instance_folders
from termvisor.system.instance_lock import acquire_instance_lock, build_conflict
from termvisor.system.worker import call_worker


class DbRestoreArgs(Struct, frozen=True, kw_only=True):
    """Choose the backup."""

    file: Annotated[
        str | None,
        Meta(
            description="A file from `visor db backup`; default: the last snapshot in the data directory.",
            extra={"positional": "one", "is_path": True},
        ),
    ] = None
    dry_run: Annotated[bool, Meta(description="Show what would be replaced without changing anything.")] = False
    yes: Annotated[bool, Meta(description="Do not ask for confirmation.")] = False


class DatabaseContentsItem(Struct, frozen=True, kw_only=True):
    """``version`` is the version of the schema, ``newest_at`` the time of the newest event."""

    version: int
    panes: int
    lines: int
    events: int
    newest_at: str | None


class DbRestoreResult(Struct, frozen=True, kw_only=True):
    """``present`` are the contents of the replaced database, ``kept`` its new path; both null if there was none."""

    path: str
    restored_from: str
    bytes: int
    backup: DatabaseContentsItem | None
    present: DatabaseContentsItem | None
    kept: str | None
    is_dry_run: bool


async def run(services: Services, args: DbRestoreArgs) -> DbRestoreResult:
    paths = services.paths
    file = args.file or paths.snapshot_file
    # Held until the database is replaced, because a daemon that starts in between would open the old one.
    with hold_daemon_lock(paths):
        # Compare first, so that the user sees both contents before confirming.
        summary = await _run_restore_worker("inspect_restore", file, paths.database)
        if not args.dry_run and not args.yes:
            present, backup = map(_build_contents_item, (summary.present, summary.backup))
            changes = f"- {_format_contents(present)}\n+ {_format_contents(backup)}"
            raise ConfirmationRequired("replace the database with this backup?", shown=changes)
        if not args.dry_run:
            summary = await _run_restore_worker("restore_backup", file, paths.database, SystemClock().now())
    return DbRestoreResult(
        path=paths.database,
        restored_from=file,
        bytes=summary.backup_bytes,
        backup=_build_contents_item(summary.backup),
        present=_build_contents_item(summary.present),
        kept=summary.kept,
        is_dry_run=args.dry_run,
    )


def _build_contents_item(contents: DatabaseContents | None) -> DatabaseContentsItem | None:
    if contents is None:
        return None
    return copy_fields(DatabaseContentsItem, contents, newest_at=format_optional_timestamp(contents.newest_at))


@contextmanager
def hold_daemon_lock(paths: Paths) -> Iterator[None]:
    """Hold the daemon's lock, so that no daemon can start. Raises StateConflict if one is running."""
    make_instance_folders(paths)
    lock = acquire_instance_lock(paths)
    if lock is None:
        raise build_conflict(paths, hint="Stop it with `visor down`, then restore.")
    try:
        yield
    finally:
        lock.release()


async def _run_restore_worker(function: str, *args: str | int) -> RestoreSummary:
    # Runs in a worker process, so that clients never load the database library. An hour is enough for any database.
    return await call_worker(
        f"termvisor.store.maintenance.restore:{function}",
        args,
        returns=RestoreSummary,
        timeout_s=3600.0,
        name="restore",
        failure=StorageError,
    )


def _format_contents(contents: DatabaseContentsItem | None) -> str:
    if contents is None:
        return "no readable database"
    newest = f", newest event {contents.newest_at}" if contents.newest_at else ""
    counts = (pluralize(contents.panes, "pane"), pluralize(contents.lines, "line"), pluralize(contents.events, "event"))
    return f"schema {contents.version}: {', '.join(counts)}{newest}"


def render_text(result: DbRestoreResult, options: RenderOptions) -> str:
    backup, present = _format_contents(result.backup), _format_contents(result.present)
    if result.is_dry_run:
        return f"would restore  {backup} ({format_bytes(result.bytes)})\nand replace    {present}"
    kept = f"\nthe replaced database is kept as {sanitize(result.kept)}" if result.kept else ""
    return f"restored {sanitize(result.path)}: {backup}{kept}"


def _list_changes(services: Services, args: DbRestoreArgs) -> tuple[RestoreData, ...]:
    # Without --yes nothing is replaced: both contents are only shown.
    return (RestoreData(file=args.file or services.paths.snapshot_file),) if args.yes and not args.dry_run else ()


OP = Operation(
    name="db_restore",
    summary="Replace the database with a backup.",
    doc="""Works only while no daemon is running. The backup is checked first: it must be a Termvisor database, not
newer than this version, and intact. The present database is renamed with a date and never deleted. Output after the
backup is read again from the raw log, for epochs that the backup knows. Asks for confirmation unless `--yes` is
given. Only a person may restore: the audit log is part of the database.""",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=_list_changes,
    examples=(
        OperationExample("db restore ~/visor-monday.db --dry-run", "show what would be replaced"),
        OperationExample("db restore ~/visor-monday.db", "restore after confirmation"),
        OperationExample("db restore", "the last snapshot, if `snapshot_interval` is set"),
    ),
)
