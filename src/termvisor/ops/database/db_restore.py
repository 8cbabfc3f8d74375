"""The op `db_restore`: put a copy back in the place of the database, while no daemon runs."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import Unconfirmed
from termvisor.model.maintenance import Contents, Exchange
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where
from termvisor.ops.database._restore_worker import exchanged, no_daemon
from termvisor.ops.render.text import Look, clean, counted, size


class DbRestore(Struct, frozen=True, kw_only=True):
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


class Restored(Struct, frozen=True, kw_only=True):
    """``present`` is what the database held before, ``kept`` its new name; both null where there was none."""

    path: str
    restored_from: str
    bytes: int
    backup: Contents
    present: Contents | None
    kept: str | None
    is_dry_run: bool


async def run(world: World, wanted: DbRestore) -> Restored:
    places = where(world)
    file = wanted.file or places.snapshot_file
    with no_daemon(places):
        done = await exchanged(places, file, is_dry_run=True)
        if not wanted.dry_run and not wanted.yes:
            raise Unconfirmed("put this copy in the place of the database?", shown="\n".join(_changes(done)))
        if not wanted.dry_run:
            done = await exchanged(places, file)
    return Restored(
        path=places.database,
        restored_from=file,
        bytes=done.backup_bytes,
        backup=done.backup,
        present=done.present,
        kept=done.kept,
        is_dry_run=wanted.dry_run,
    )


def _changes(done: Exchange) -> list[str]:
    return [*(f"-{text}" for text in _told(done.present)), *(f"+{text}" for text in _told(done.backup))]


def _told(held: Contents | None) -> list[str]:
    if held is None:
        return [" no database that can be read"]
    newest = f", newest event {iso(held.newest_at)}" if held.newest_at else ""
    counts = (counted(held.panes, "pane"), counted(held.lines, "line"), counted(held.events, "event"))
    return [f" schema {held.version}: {', '.join(counts)}{newest}"]


def plain(done: Restored, look: Look) -> str:
    now, before = _told(done.backup)[0].strip(), _told(done.present)[0].strip()
    if done.is_dry_run:
        return f"would put back  {now} ({size(done.bytes)})\nin the place of {before}"
    kept = f"\nthe database before it is kept as {clean(done.kept)}" if done.kept else ""
    return f"{clean(done.path)} now holds {now}{kept}"


OP = Op(
    name="db_restore",
    summary="Put a copy back in the place of the database.",
    doc="""Only while no daemon runs. The copy is checked first: is it ours, not newer than this version, and whole?
The present database is moved aside under a dated name and never deleted. What panes printed after the copy was made is
read again from the raw log, as far as their epochs are in the copy. Asks before it changes anything; `--yes` does not
ask.""",
    Input=DbRestore,
    Output=Restored,
    run=run,
    plain=plain,
    effect="local",
    examples=(
        Example("db restore ~/visor-monday.db --dry-run", "what would be replaced by what"),
        Example("db restore ~/visor-monday.db", "look, confirm, restore"),
        Example("db restore", "the last snapshot, where `snapshot_interval` makes them"),
    ),
)
