"""What the operations share that change a run."""

from msgspec import Struct

from termvisor.model.run import RunId
from termvisor.model.workflow_info import RunChange
from termvisor.ops.door import ActingWorld
from termvisor.ops.look import Look
from termvisor.ops.run_item import RunItem, headline, run_item


class ChangedRun(Struct, frozen=True, kw_only=True):
    """The run as it stands right after; what follows from the change may take a moment."""

    run: RunItem


async def changed(world: ActingWorld, number: int, change: RunChange) -> ChangedRun:
    run = await world.runs.change(RunId(number), change, world.door.actor)
    return ChangedRun(run=run_item(run, world.clock.now()))


def plain(told: ChangedRun, look: Look) -> str:
    return str(told.run.id) if look.is_quiet else headline(told.run)


EXITS = ((4, "There is no such run."), (75, "It has ended already."))
