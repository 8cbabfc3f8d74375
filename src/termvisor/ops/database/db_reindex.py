"""The operation `db_reindex`: rebuild the search index from the stored text."""

from msgspec import Struct

from termvisor.model.action.action import UpdateRecords
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.database._maintenance_progress import declare_maintenance


class DbReindexArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


OP = declare_maintenance(
    name="db_reindex",
    summary="Rebuild the search index from the stored text.",
    doc="""For when `visor db check` reports that the index differs from the text: the text is intact, but searches miss
lines. New output is stored after the rebuild, so it is searchable later; none of it is lost.""",
    args_type=DbReindexArgs,
    start=lambda services, _args: services.maintenance.vacuum_database(rebuild_indexes=True),
    list_changes=lambda _services, _args: (UpdateRecords(change="reindex"),),
    examples=(OperationExample("db reindex", "after `db check` reported a different index"),),
)
