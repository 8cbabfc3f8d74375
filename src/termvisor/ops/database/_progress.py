"""What long upkeep tells while it works: a line each time something is done, and now and then how far it is."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import cast

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.maintenance import Maintenance
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean, size

_TELL_EVERY = 1.0


class UpkeepStep(Struct, frozen=True, kw_only=True):
    """``rows`` and ``bytes`` are what was deleted, sealed or given back, of what ``operation`` names."""

    operation: str
    started_at: str
    duration_secs: float
    rows: int
    bytes: int
    detail: str
    is_done: bool
    """False while the operation goes on: then the numbers are what was reached so far."""
    is_foretold: bool = False
    """True in a dry run: this would be done, and was not."""


async def told(world: World, runs: AsyncIterator[Maintenance], *, foretold: bool = False) -> AsyncIterator[UpkeepStep]:
    """What is done at once, and of what goes on a word a second."""
    spoke_at = world.clock.monotonic()
    async with aclosing(cast("AsyncGenerator[Maintenance, None]", runs)) as found:
        async for run in found:
            now = world.clock.monotonic()
            if run.is_done or now - spoke_at >= _TELL_EVERY:
                spoke_at = now
                yield step(run, foretold=foretold)


def step(run: Maintenance, *, foretold: bool = False) -> UpkeepStep:
    return UpkeepStep(
        operation=run.operation,
        started_at=iso(run.started_at),
        duration_secs=round(run.duration, 3),
        rows=run.rows,
        bytes=run.bytes,
        detail=run.detail,
        is_done=run.is_done,
        is_foretold=foretold,
    )


def plain(found: UpkeepStep, look: Look) -> str:
    if look.is_quiet and not found.is_done:
        return ""
    room = f", {size(found.bytes)}" if found.bytes else ""
    what = clean(found.detail) or (f"{found.rows}" if found.rows else "nothing to do")
    if found.is_foretold:
        return f"{found.operation:<13} would: {what}{room}"
    when = f"  {found.duration_secs:.1f} s" if found.is_done and (found.rows or found.bytes) else ""
    return f"{found.operation:<13} {'' if found.is_done else '… '}{what}{room}{when}"
