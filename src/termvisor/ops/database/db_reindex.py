"""The op `db_reindex`: make the search index anew from the stored text."""

from collections.abc import AsyncIterator

from msgspec import Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.database._progress import UpkeepStep, plain, told


class DbReindex(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


def run(world: World, _wanted: DbReindex) -> AsyncIterator[UpkeepStep]:
    return told(world, world.upkeep.vacuum(anew=True))


OP = Op(
    name="db_reindex",
    summary="Make the search index anew from the stored text.",
    doc="""For an index that `visor db check` finds to differ from the text: the text is whole, only searches miss
something. New output is stored after it, so it is searchable that much later; none of it is lost.""",
    Input=DbReindex,
    Output=UpkeepStep,
    run=run,
    plain=plain,
    effect="change",
    is_stream=True,
    is_live=True,
    examples=(Example("db reindex", "when `db check` says that the index differs"),),
)
