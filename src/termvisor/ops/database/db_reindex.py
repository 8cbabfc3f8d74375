"""The op `db_reindex`: make the search index anew from the stored text."""

from collections.abc import AsyncIterator

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.database._maintenance_progress import MaintenanceStep, render_text, stream_steps


class DbReindexArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


def run(services: Services, _args: DbReindexArgs) -> AsyncIterator[MaintenanceStep]:
    return stream_steps(services, services.maintenance.vacuum_database(rebuild_indexes=True))


OP = Operation(
    name="db_reindex",
    summary="Make the search index anew from the stored text.",
    doc="""For an index that `visor db check` finds to differ from the text: the text is whole, only searches miss
something. New output is stored after it, so it is searchable that much later; none of it is lost.""",
    args_type=DbReindexArgs,
    result_type=MaintenanceStep,
    run=run,
    render_text=render_text,
    effect="change",
    is_stream=True,
    is_live=True,
    examples=(OperationExample("db reindex", "when `db check` says that the index differs"),),
)
