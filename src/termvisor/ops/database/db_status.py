"""The operation `db_status`: show the size of database and raw log and the latest maintenance runs."""

from msgspec import Struct

from termvisor.clock import compute_seconds_between
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.database._maintenance_progress import MaintenanceStep, build_step
from termvisor.ops.render import table, text
from termvisor.ops.render.results import format_optional_timestamp


class DbStatusArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class DbStatusResult(Struct, frozen=True, kw_only=True):
    """``maintenance`` are the latest runs that changed something, newest first."""

    path: str
    is_writable: bool
    db_bytes: int
    wal_pages: int
    last_checkpoint_at: str | None
    checkpoint_age_secs: float | None
    raw_bytes: int
    maintenance: tuple[MaintenanceStep, ...]


async def run(services: Services, _args: DbStatusArgs) -> DbStatusResult:
    health = await services.maintenance.get_health()
    # A write-ahead log that is never checkpointed grows without limit, so its age is shown.
    checkpoint_at = health.last_checkpoint_at
    return DbStatusResult(
        path=services.configuration[0].database,
        is_writable=health.db_writable,
        db_bytes=health.db_bytes,
        wal_pages=health.wal_pages,
        last_checkpoint_at=format_optional_timestamp(checkpoint_at),
        checkpoint_age_secs=None
        if checkpoint_at is None
        else compute_seconds_between(checkpoint_at, services.clock.now()),
        raw_bytes=health.raw_bytes,
        maintenance=tuple(build_step(run) for run in health.maintenance),
    )


_STEP_COLUMNS = (
    table.TableColumn("OPERATION", lambda run: run.operation, style="bold"),
    table.TableColumn("AT", lambda run: run.started_at, kind="time"),
    table.TableColumn("DURATION", lambda run: f"{run.duration_secs:.1f} s", is_right_aligned=True),
    table.TableColumn("ROWS", lambda run: str(run.rows), is_right_aligned=True, worth=3),
    table.TableColumn("BYTES", lambda run: text.format_bytes(run.bytes), is_right_aligned=True, worth=2),
    table.TableColumn("DETAIL", lambda run: run.detail, can_shrink=True, min_width=16, worth=4),
)


def render_text(result: DbStatusResult, options: text.RenderOptions) -> str:
    state = "writable" if result.is_writable else "NOT WRITABLE"
    checkpoint = (
        "none yet" if result.checkpoint_age_secs is None else f"{text.format_age(result.checkpoint_age_secs)} ago"
    )
    head = (
        f"database    {text.sanitize(result.path)}: {text.format_bytes(result.db_bytes)}, {state}\n"
        f"checkpoint  {checkpoint}, {text.pluralize(result.wal_pages, 'page')} pending\n"
        f"raw log     {text.format_bytes(result.raw_bytes)}"
    )
    return f"{head}\n\n{table.render_table(_STEP_COLUMNS, result.maintenance, options)}" if result.maintenance else head


OP = Operation(
    name="db_status",
    summary="Show the size of database and raw log, and the latest maintenance runs.",
    doc="""Shows sizes, the last checkpoint of the write-ahead log, and the latest maintenance runs that changed
something: what was deleted, sealed, copied or checked, and how long it took.""",
    run=run,
    render_text=render_text,
    examples=(OperationExample("db status", "sizes and latest runs"),),
)
