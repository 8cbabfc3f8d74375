"""The operation `db_reindex`: rebuild the search index from the stored text."""

from collections.abc import AsyncIterator

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.database._maintenance_progress import MaintenanceStep, render_text, stream_steps


class DbReindexArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


def run(services: Services, _args: DbReindexArgs) -> AsyncIterator[MaintenanceStep]:
    return stream_steps(services, services.maintenance.vacuum_database(rebuild_indexes=True))


OP = Operation(
    name="db_reindex",
    summary="Rebuild the search index from the stored text.",
    doc="""For when `visor db check` reports that the index differs from the text: the text is intact, but searches miss
lines. New output is stored after the rebuild, so it is searchable later; none of it is lost.""",
    args_type=DbReindexArgs,
    result_type=MaintenanceStep,
    run=run,
    render_text=render_text,
    effect="change",
    is_stream=True,
    is_live=True,
    examples=(OperationExample("db reindex", "after `db check` reported a different index"),),
)
