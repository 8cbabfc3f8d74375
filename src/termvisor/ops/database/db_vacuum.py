"""The op `db_vacuum`: give the room of deleted rows back to the disk."""

from collections.abc import AsyncIterator

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.database._maintenance_progress import MaintenanceStep, render_text, stream_steps


class DbVacuumArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


def run(services: Services, _args: DbVacuumArgs) -> AsyncIterator[MaintenanceStep]:
    return stream_steps(services, services.maintenance.vacuum_database())


OP = Operation(
    name="db_vacuum",
    summary="Make the database file as small as what is in it.",
    doc="""Merges the search index and gives free pages back to the disk, in slices of some milliseconds: recording,
searching and reading go on meanwhile. Deleting by age gives pages back by itself; this makes the index smaller too.""",
    args_type=DbVacuumArgs,
    result_type=MaintenanceStep,
    run=run,
    render_text=render_text,
    effect="change",
    is_stream=True,
    is_live=True,
    examples=(OperationExample("db vacuum", "after much was deleted"),),
)
