"""The op `db_vacuum`: give the room of deleted rows back to the disk."""

from collections.abc import AsyncIterator

from msgspec import Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.database._progress import UpkeepStep, plain, told


class DbVacuum(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


def run(world: World, _wanted: DbVacuum) -> AsyncIterator[UpkeepStep]:
    return told(world, world.upkeep.vacuum())


OP = Op(
    name="db_vacuum",
    summary="Make the database file as small as what is in it.",
    doc="""Merges the search index and gives free pages back to the disk, in slices of some milliseconds: recording,
searching and reading go on meanwhile. Deleting by age gives pages back by itself; this makes the index smaller too.""",
    Input=DbVacuum,
    Output=UpkeepStep,
    run=run,
    plain=plain,
    effect="change",
    is_stream=True,
    is_live=True,
    examples=(Example("db vacuum", "after much was deleted"),),
)
