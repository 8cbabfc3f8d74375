"""The operation `db_prune`: run maintenance now, to apply retention and to redact and compress raw segments."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.action.action import PruneData
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.database._maintenance_progress import declare_maintenance


class DbPruneArgs(Struct, frozen=True, kw_only=True):
    """Choose a dry run."""

    dry_run: Annotated[bool, Meta(description="Show what would be done without doing it.")] = False


OP = declare_maintenance(
    name="db_prune",
    summary="Apply the retention settings now; redact and compress raw segments.",
    doc="""Runs the same maintenance as the daemon every `maintenance_interval` seconds: deletes by age (`retention`,
`raw_retention`), then beyond each pane's limit (`pane_bytes`), then the oldest data while raw log and database exceed
`total_bytes`. Complete raw segments are redacted (`mask_raw`) and compressed (`compress`). Bytes that are not yet
stored as text, and the segment that is being written, are never touched. Prints progress, a line per operation. A
program needs approval.""",
    args_type=DbPruneArgs,
    start=lambda services, args: services.maintenance.run_maintenance(dry_run=args.dry_run),
    list_changes=lambda _services, args: () if args.dry_run else (PruneData(),),
    examples=(
        OperationExample("db prune --dry-run", "show what would be deleted"),
        OperationExample("db prune", "run maintenance now"),
    ),
)
