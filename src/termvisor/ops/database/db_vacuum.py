"""The operation `db_vacuum`: compact the database file."""

from msgspec import Struct

from termvisor.model.action.action import UpdateRecords
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.database._maintenance_progress import declare_maintenance


class DbVacuumArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


OP = declare_maintenance(
    name="db_vacuum",
    summary="Compact the database file.",
    doc="""Merges the search index and frees unused pages in slices of a few milliseconds, so recording, searching and
reading continue meanwhile. Deleting by age already frees pages; this also shrinks the index.""",
    args_type=DbVacuumArgs,
    start=lambda services, _args: services.maintenance.vacuum_database(),
    list_changes=lambda _services, _args: (UpdateRecords(change="vacuum"),),
    examples=(OperationExample("db vacuum", "after deleting much data"),),
)
