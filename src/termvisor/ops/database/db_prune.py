"""The op `db_prune`: what the daemon does every few minutes, now: delete what is too old or too much, seal the rest."""

from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.database._maintenance_progress import MaintenanceStep, render_text, stream_steps


class DbPruneArgs(Struct, frozen=True, kw_only=True):
    """Whether only to tell."""

    dry_run: Annotated[bool, Meta(description="Tell what would be done, and do nothing.")] = False


def run(services: Services, args: DbPruneArgs) -> AsyncIterator[MaintenanceStep]:
    return stream_steps(services, services.maintenance.run_maintenance(dry_run=args.dry_run), is_dry_run=args.dry_run)


OP = Operation(
    name="db_prune",
    summary="Delete what the settings no longer keep, mask and compress the rest, now.",
    doc="""The same round that the daemon makes every `maintenance_interval` seconds. By age (`retention`,
`raw_retention`), then what is beyond each pane's share (`pane_bytes`), then the oldest while raw log and database are
larger than `total_bytes`. Complete raw segments are masked (`mask_raw`) and compressed (`compress`). Bytes that are
not yet text, and the segment that is being written, are never touched. Tells a line an operation, and its progress.""",
    args_type=DbPruneArgs,
    result_type=MaintenanceStep,
    run=run,
    render_text=render_text,
    effect="change",
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("db prune --dry-run", "what would go"),
        OperationExample("db prune", "do it now"),
    ),
)
