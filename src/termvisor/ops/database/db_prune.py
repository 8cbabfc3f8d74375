"""The op `db_prune`: what the daemon does every few minutes, now: delete what is too old or too much, seal the rest."""

from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.database._progress import UpkeepStep, plain, told


class DbPrune(Struct, frozen=True, kw_only=True):
    """Whether only to tell."""

    dry_run: Annotated[bool, Meta(description="Tell what would be done, and do nothing.")] = False


def run(world: World, wanted: DbPrune) -> AsyncIterator[UpkeepStep]:
    return told(world, world.upkeep.maintain(dry_run=wanted.dry_run), foretold=wanted.dry_run)


OP = Op(
    name="db_prune",
    summary="Delete what the settings no longer keep, mask and compress the rest, now.",
    doc="""The same round that the daemon makes every `maintenance_interval` seconds. By age (`retention`,
`raw_retention`), then what is beyond each pane's share (`pane_bytes`), then the oldest while raw log and database are
larger than `total_bytes`. Complete raw segments are masked (`mask_raw`) and compressed (`compress`). Bytes that are
not yet text, and the segment that is being written, are never touched. Tells a line an operation, and its progress.""",
    Input=DbPrune,
    Output=UpkeepStep,
    run=run,
    plain=plain,
    effect="change",
    is_stream=True,
    is_live=True,
    examples=(
        Example("db prune --dry-run", "what would go"),
        Example("db prune", "do it now"),
    ),
)
