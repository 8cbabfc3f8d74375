"""The op `db_restore`: put a copy back in the place of the database, while no daemon runs."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import ConfirmationRequired
from termvisor.model.maintenance import DatabaseContents, RestoreSummary
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import get_paths
from termvisor.ops.database._restore_worker import exchange_database, hold_daemon_lock
from termvisor.ops.render.text import RenderOptions, format_bytes, pluralize, sanitize


class DbRestoreArgs(Struct, frozen=True, kw_only=True):
    """Which copy, and whether to go through with it."""

    file: Annotated[
        str | None,
        Meta(
            description="A file that `visor db backup` wrote; without it, the last snapshot in the data folder.",
            extra={"positional": "one", "is_path": True},
        ),
    ] = None
    dry_run: Annotated[bool, Meta(description="Tell what would be replaced, and change nothing.")] = False
    yes: Annotated[bool, Meta(description="Do it without asking.")] = False


class DbRestoreResult(Struct, frozen=True, kw_only=True):
    """``present`` is what the database held before, ``kept`` its new name; both null where there was none."""

    path: str
    restored_from: str
    bytes: int
    backup: DatabaseContents
    present: DatabaseContents | None
    kept: str | None
    is_dry_run: bool


async def run(services: Services, args: DbRestoreArgs) -> DbRestoreResult:
    places = get_paths(services)
    file = args.file or places.snapshot_file
    with hold_daemon_lock(places):
        done = await exchange_database(places, file, is_dry_run=True)
        if not args.dry_run and not args.yes:
            raise ConfirmationRequired(
                "put this copy in the place of the database?", shown="\n".join(_format_changes(done))
            )
        if not args.dry_run:
            done = await exchange_database(places, file)
    return DbRestoreResult(
        path=places.database,
        restored_from=file,
        bytes=done.backup_bytes,
        backup=done.backup,
        present=done.present,
        kept=done.kept,
        is_dry_run=args.dry_run,
    )


def _format_changes(exchange: RestoreSummary) -> list[str]:
    return [
        *(f"-{text}" for text in _format_contents(exchange.present)),
        *(f"+{text}" for text in _format_contents(exchange.backup)),
    ]


def _format_contents(contents: DatabaseContents | None) -> list[str]:
    if contents is None:
        return [" no database that can be read"]
    newest = f", newest event {format_timestamp(contents.newest_at)}" if contents.newest_at else ""
    counts = (pluralize(contents.panes, "pane"), pluralize(contents.lines, "line"), pluralize(contents.events, "event"))
    return [f" schema {contents.version}: {', '.join(counts)}{newest}"]


def render_text(result: DbRestoreResult, options: RenderOptions) -> str:
    now, before = _format_contents(result.backup)[0].strip(), _format_contents(result.present)[0].strip()
    if result.is_dry_run:
        return f"would put back  {now} ({format_bytes(result.bytes)})\nin the place of {before}"
    kept = f"\nthe database before it is kept as {sanitize(result.kept)}" if result.kept else ""
    return f"{sanitize(result.path)} now holds {now}{kept}"


OP = Operation(
    name="db_restore",
    summary="Put a copy back in the place of the database.",
    doc="""Only while no daemon runs. The copy is checked first: is it ours, not newer than this version, and whole?
The present database is moved aside under a dated name and never deleted. What panes printed after the copy was made is
read again from the raw log, as far as their epochs are in the copy. Asks before it changes anything; `--yes` does not
ask.""",
    args_type=DbRestoreArgs,
    result_type=DbRestoreResult,
    run=run,
    render_text=render_text,
    effect="local",
    examples=(
        OperationExample("db restore ~/visor-monday.db --dry-run", "what would be replaced by what"),
        OperationExample("db restore ~/visor-monday.db", "look, confirm, restore"),
        OperationExample("db restore", "the last snapshot, where `snapshot_interval` makes them"),
    ),
)
