"""The operation `db_vacuum`: compact the database file."""

from collections.abc import AsyncIterator

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.database._maintenance_progress import MaintenanceStep, render_text, stream_steps


class DbVacuumArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


def run(services: Services, _args: DbVacuumArgs) -> AsyncIterator[MaintenanceStep]:
    return stream_steps(services, services.maintenance.vacuum_database())


OP = Operation(
    name="db_vacuum",
    summary="Compact the database file.",
    doc="""Merges the search index and frees unused pages in slices of a few milliseconds, so recording, searching and
reading continue meanwhile. Deleting by age already frees pages; this also shrinks the index.""",
    args_type=DbVacuumArgs,
    result_type=MaintenanceStep,
    run=run,
    render_text=render_text,
    effect="change",
    is_stream=True,
    is_live=True,
    examples=(OperationExample("db vacuum", "after deleting much data"),),
)
