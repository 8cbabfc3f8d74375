"""What long upkeep tells while it works: a line each time something is done, and now and then how far it is."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import cast

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.maintenance import MaintenanceRun
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, format_bytes, sanitize

_PROGRESS_INTERVAL_S = 1.0


class MaintenanceStep(Struct, frozen=True, kw_only=True):
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


async def stream_steps(
    services: Services, runs: AsyncIterator[MaintenanceRun], *, is_dry_run: bool = False
) -> AsyncIterator[MaintenanceStep]:
    """What is done at once, and of what goes on a word a second."""
    spoke_at = services.clock.monotonic()
    async with aclosing(cast("AsyncGenerator[MaintenanceRun, None]", runs)) as found:
        async for run in found:
            now = services.clock.monotonic()
            if run.is_done or now - spoke_at >= _PROGRESS_INTERVAL_S:
                spoke_at = now
                yield build_step(run, is_dry_run=is_dry_run)


def build_step(run: MaintenanceRun, *, is_dry_run: bool = False) -> MaintenanceStep:
    return MaintenanceStep(
        operation=run.operation,
        started_at=format_timestamp(run.started_at),
        duration_secs=round(run.duration, 3),
        rows=run.rows,
        bytes=run.bytes,
        detail=run.detail,
        is_done=run.is_done,
        is_foretold=is_dry_run,
    )


def render_text(result: MaintenanceStep, options: RenderOptions) -> str:
    if options.is_quiet and not result.is_done:
        return ""
    room = f", {format_bytes(result.bytes)}" if result.bytes else ""
    what = sanitize(result.detail) or (f"{result.rows}" if result.rows else "nothing to do")
    if result.is_foretold:
        return f"{result.operation:<13} would: {what}{room}"
    when = f"  {result.duration_secs:.1f} s" if result.is_done and (result.rows or result.bytes) else ""
    return f"{result.operation:<13} {'' if result.is_done else '… '}{what}{room}{when}"
