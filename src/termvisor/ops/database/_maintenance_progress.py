"""Stream the progress of a maintenance run: one item per finished step, and one per second while a step runs."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, cast

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.maintenance import MaintenanceRun
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, format_bytes, sanitize

# A step reports every slice, but one line per second is enough for a person and cheap for a script.
_PROGRESS_INTERVAL_S = 1.0


class MaintenanceStep(Struct, frozen=True, kw_only=True):
    """``rows`` and ``bytes`` are the amounts that ``operation`` deleted, sealed or freed."""

    operation: str
    started_at: str
    duration_secs: float
    rows: int
    bytes: int
    detail: str
    is_done: bool
    """False while the step is running; the amounts are then those so far."""
    is_foretold: bool = False
    """True in a dry run: nothing was changed."""


async def stream_steps(
    services: Services, runs: AsyncIterator[MaintenanceRun], *, is_dry_run: bool = False
) -> AsyncIterator[MaintenanceStep]:
    """Yield finished steps immediately, and the progress of a running step at most once per interval."""
    reported_at = services.clock.monotonic()
    # Closes the run if the client disconnects before its last step.
    async with aclosing(cast("AsyncGenerator[MaintenanceRun, None]", runs)) as open_runs:
        async for run in open_runs:
            now = services.clock.monotonic()
            if run.is_done or now - reported_at >= _PROGRESS_INTERVAL_S:
                reported_at = now
                yield build_step(run, is_dry_run=is_dry_run)


def build_step(run: MaintenanceRun, *, is_dry_run: bool = False) -> MaintenanceStep:
    return copy_fields(
        MaintenanceStep,
        run,
        started_at=format_timestamp(run.started_at),
        duration_secs=round(run.duration, 3),
        is_foretold=is_dry_run,
    )


def render_text(result: MaintenanceStep, options: RenderOptions) -> str:
    if options.is_quiet and not result.is_done:
        return ""
    size = f", {format_bytes(result.bytes)}" if result.bytes else ""
    detail = sanitize(result.detail) or (f"{result.rows}" if result.rows else "nothing to do")
    if result.is_foretold:
        return f"{result.operation:<13} would: {detail}{size}"
    duration = f"  {result.duration_secs:.1f} s" if result.is_done and (result.rows or result.bytes) else ""
    return f"{result.operation:<13} {'' if result.is_done else '… '}{detail}{size}{duration}"


def declare_maintenance(
    *, start: Callable[[Services, Any], AsyncIterator[MaintenanceRun]], **declaration: Any
) -> Operation:
    """Declare an operation that streams the steps of the maintenance run that ``start`` begins."""

    def run(services: Services, args: Any) -> AsyncIterator[MaintenanceStep]:
        return stream_steps(services, start(services, args), is_dry_run=getattr(args, "dry_run", False))

    return Operation(
        result_type=MaintenanceStep,
        run=run,
        render_text=render_text,
        effect="change",
        is_stream=True,
        is_live=True,
        **declaration,
    )
