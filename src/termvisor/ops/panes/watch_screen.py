"""The operation `watch_screen`: stream the screen of a pane, first all rows, then those that change.

All viewers of a pane share one capture, which is taken at most ten times a second.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.bus import wait_for_update
from termvisor.clock import format_timestamp
from termvisor.model.terminal.screen import Screen
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneReference, resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_keep_colours

CAPTURE_INTERVAL_S = 0.1
_QUIET_CAPTURE_S = 2.0
"""A screen also changes without output: by a resize, or in copy mode."""


class WatchScreenArgs(Struct, frozen=True, kw_only=True):
    """The pane, and how to show it."""

    pane: PaneReference
    escapes: Annotated[bool, Meta(description="Keep colours (SGR escape sequences).")] = False
    once: Annotated[bool, Meta(description="Print the current screen, then exit.")] = False


class ScreenRowUpdate(Struct, frozen=True, kw_only=True):
    """``row`` counts from 0 at the top."""

    row: int
    text: str


class ScreenUpdate(Struct, frozen=True, kw_only=True):
    """``rows`` are all rows if ``is_full``, else those that changed. A pane that changes its size starts with all
    rows again.
    """

    pane: int
    at: str
    is_full: bool = False
    width: int
    height: int
    cursor_x: int
    cursor_y: int
    is_alternate: bool = False
    rows: tuple[ScreenRowUpdate, ...] = ()


async def run(services: Services, args: WatchScreenArgs) -> AsyncIterator[ScreenUpdate]:
    pane, updates = (await resolve_pane(services, args.pane)).id, services.updates

    async def capture(_known: Screen | None) -> Screen:
        return await services.panes.capture_screen(pane, escapes=args.escapes)

    key = ("screen", pane, args.escapes)
    with updates.shared_results.open(key, CAPTURE_INTERVAL_S) as shared, updates.subscribe_output(1) as output:
        output.is_wanted = lambda changed: changed == pane
        before: Screen | None = None
        while True:
            # Drained before the capture: what is printed meanwhile causes the next one.
            output.drain()
            screen: Screen = await shared.fetch(capture)
            if (update := _build_update(before, screen)) is not None:
                yield update
            before = screen
            if args.once:
                return
            await wait_for_update(services.clock, _QUIET_CAPTURE_S, output)


def _build_update(before: Screen | None, screen: Screen) -> ScreenUpdate | None:
    """Return what changed; None if nothing did."""
    is_full = before is None or (before.width, before.height) != (screen.width, screen.height)
    rows = _find_changed_rows(() if before is None or is_full else before.rows, screen.rows)
    if before is not None and not (is_full or rows) and _get_cursor(before) == _get_cursor(screen):
        return None
    return ScreenUpdate(
        pane=screen.pane,
        at=format_timestamp(screen.at),
        is_full=is_full,
        width=screen.width,
        height=screen.height,
        cursor_x=screen.cursor_x,
        cursor_y=screen.cursor_y,
        is_alternate=screen.alternate,
        rows=rows,
    )


def _find_changed_rows(before: Sequence[str], after: Sequence[str]) -> tuple[ScreenRowUpdate, ...]:
    padded = [*after, *[""] * (len(before) - len(after))]
    return tuple(
        ScreenRowUpdate(row=number, text=text)
        for number, text in enumerate(padded)
        if number >= len(before) or before[number] != text
    )


def _get_cursor(screen: Screen) -> tuple[int, int]:
    return screen.cursor_x, screen.cursor_y


def render_text(result: ScreenUpdate, options: RenderOptions) -> str:
    clean = sanitize_keep_colours if options.colour else sanitize
    if result.is_full:
        return "\n".join(clean(row.text) for row in result.rows)
    time = options.paint("dim", result.at[11:19])
    return "\n".join(f"{time}  {row.row:>3}  {clean(row.text)}" for row in result.rows)


OP = Operation(
    name="watch_screen",
    robot_name="watch-screen",
    summary="Stream a pane's screen.",
    doc="""The first item has all rows (`is_full`), each later one only the rows that changed and the cursor. The screen
is captured after output, at most ten times a second, and once for all its viewers. A viewer that reads slowly gets
the newest screen, never every one in between; one that reads nothing for 30 seconds is disconnected, and starts with
all rows when it comes back.""",
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    is_verbatim=True,
    shows_pane_text=True,
    examples=(
        OperationExample("watch-screen 7", "the screen of pane 7, then each changed row"),
        OperationExample("robot watch-screen 7 --escapes", "with colours, one JSON object per change"),
    ),
)
