"""What the operations share that change a run."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.workflow.info import RunChange
from termvisor.model.workflow.run import RunId
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.render.text import Look
from termvisor.ops.workflows._run_item import RunItem, RunNumber, headline, run_item


class Reasoned(Struct, frozen=True, kw_only=True):
    """Which run, and why."""

    run: RunNumber
    why: Annotated[str, Meta(description="The reason, for the record.", max_length=500)] = ""


class ChangedRun(Struct, frozen=True, kw_only=True):
    """The run as it stands right after; what follows from the change may take a moment."""

    run: RunItem


async def changed(world: ActingWorld, number: int, change: RunChange) -> ChangedRun:
    run = await world.runs.change(RunId(number), change, world.door.actor)
    return ChangedRun(run=run_item(run, world.clock.now()))


def plain(told: ChangedRun, look: Look) -> str:
    return str(told.run.id) if look.is_quiet else headline(told.run)


EXITS = ((4, "There is no such run."), (75, "It has ended already."))
