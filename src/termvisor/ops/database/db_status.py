"""The op `db_status`: how large database and raw log are, and what was done to keep them so."""

from msgspec import Struct

from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.database._progress import UpkeepStep, step
from termvisor.ops.panes._listing import instant
from termvisor.ops.render.text import Column, Look, age, clean, size, table


class DbStatus(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class StorageStatus(Struct, frozen=True, kw_only=True):
    """``maintenance`` are the newest runs that did something, newest first."""

    path: str
    is_writable: bool
    db_bytes: int
    wal_pages: int
    last_checkpoint_at: str | None
    checkpoint_age_secs: float | None
    raw_bytes: int
    maintenance: tuple[UpkeepStep, ...]


async def run(world: World, _wanted: DbStatus) -> StorageStatus:
    health = await world.upkeep.health()
    merged_at = health.last_checkpoint_at
    return StorageStatus(
        path=world.configuration[0].database,
        is_writable=health.db_writable,
        db_bytes=health.db_bytes,
        wal_pages=health.wal_pages,
        last_checkpoint_at=instant(merged_at),
        checkpoint_age_secs=None if merged_at is None else seconds_between(merged_at, world.clock.now()),
        raw_bytes=health.raw_bytes,
        maintenance=tuple(step(run) for run in health.maintenance),
    )


_RUNS = (
    Column("OPERATION", lambda run: run.operation, style="bold"),
    Column("AT", lambda run: run.started_at),
    Column("TOOK", lambda run: f"{run.duration_secs:.1f} s", is_right=True),
    Column("ROWS", lambda run: str(run.rows), is_right=True),
    Column("BYTES", lambda run: size(run.bytes), is_right=True),
    Column("DETAIL", lambda run: run.detail, may_shrink=True),
)


def plain(status: StorageStatus, look: Look) -> str:
    state = "writable" if status.is_writable else "NOT WRITABLE"
    merged = "not yet" if status.checkpoint_age_secs is None else f"{age(status.checkpoint_age_secs)} ago"
    head = (
        f"database  {clean(status.path)}: {size(status.db_bytes)}, {state}\n"
        f"merged    {merged}, {status.wal_pages} pages wait\n"
        f"raw log   {size(status.raw_bytes)}"
    )
    return f"{head}\n\n{table(_RUNS, status.maintenance, look)}" if status.maintenance else head


OP = Op(
    name="db_status",
    summary="How large database and raw log are, and the last maintenance.",
    doc="""Sizes, when the write-ahead file was last merged into the database, and the newest maintenance runs that did
something: what was deleted, sealed, copied or checked, and how long it took.""",
    Input=DbStatus,
    Output=StorageStatus,
    run=run,
    plain=plain,
    examples=(Example("db status", "sizes and the last runs"),),
)
