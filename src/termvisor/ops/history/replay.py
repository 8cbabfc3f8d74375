"""The op `replay`: the screens that a pane showed, drawn anew from what it printed, one after the other."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import NS, Clock, format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.terminal.frame import ReplayFrame
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import parse_time_filter, resolve_pane
from termvisor.ops.render.text import RenderOptions


class ReplayArgs(Struct, frozen=True, kw_only=True):
    """Which part of a pane's past to show."""

    pane: Annotated[str, Meta(description="The pane; any reference.", extra={"positional": "one"})]
    at: Annotated[
        str | None,
        Meta(description="Begin here: ISO 8601, today, or an age such as 10m. Without it: at the beginning."),
    ] = None
    until: Annotated[str | None, Meta(description="End here: ISO 8601, or an age such as 5m.")] = None
    speed: Annotated[
        float,
        Meta(description="How many times as fast as it happened. Without it programs get all at once.", ge=0, le=1000),
    ] = 0.0


class FrameItem(Struct, frozen=True, kw_only=True):
    """``rows`` hold text and SGR colours, nothing else; ``note`` says what cannot be seen, for example a gap."""

    pane: int
    at: str
    width: int
    height: int
    rows: tuple[str, ...]
    cursor_x: int
    cursor_y: int
    is_cursor_shown: bool
    is_alternate: bool
    epoch: int
    offset: int
    note: str


async def run(services: Services, args: ReplayArgs) -> AsyncIterator[FrameItem]:
    now = services.clock.now()
    since, until = parse_time_filter(args.at, now), parse_time_filter(args.until, now)
    if since is not None and until is not None and until < since:
        raise BadRequest("--until lies before --at")
    pane = (await resolve_pane(services, args.pane)).id
    pace = _ReplayPacer(services.clock, args.speed)
    async with aclosing(services.history.recording.render_frames(pane, since=since, until=until)) as frames:
        async for frame in frames:
            await pace.wait_until(frame.at)
            yield build_frame_item(frame)


class _ReplayPacer:
    """Time as it went by when all this happened, or faster."""

    def __init__(self, clock: Clock, speed: float):
        self._clock, self._speed = clock, speed
        self._start: tuple[int, float] | None = None

    async def wait_until(self, at: int) -> None:
        if not self._speed:
            return
        first, began = self._start = self._start or (at, self._clock.monotonic())
        late = self._clock.monotonic() - began
        await self._clock.sleep(max(0.0, (at - first) / NS / self._speed - late))


def build_frame_item(frame: ReplayFrame) -> FrameItem:
    return FrameItem(
        pane=frame.pane,
        at=format_timestamp(frame.at),
        width=frame.width,
        height=frame.height,
        rows=frame.rows,
        cursor_x=frame.cursor_x,
        cursor_y=frame.cursor_y,
        is_cursor_shown=frame.is_cursor_shown,
        is_alternate=frame.is_alternate,
        epoch=frame.epoch,
        offset=frame.offset,
        note=frame.note,
    )


def render_text(result: FrameItem, options: RenderOptions) -> str:
    raise BadRequest(
        "replay needs a terminal to play on",
        hint=f"`visor export {result.pane} --cast --output pane.cast` writes a film; --json gives programs the screens.",
    )


OP = Operation(
    name="replay",
    robot_name="replay",
    summary="Play what a pane showed, like a film: pause, seek, step.",
    doc="""On a terminal it is a player: space pauses, the arrows go back and forth (10 s left and right, 1 min up and
down), `.` steps to the next output, `e` and `E` go to the next and the previous event of the pane, `+` and `-` change
the speed, `i` shows idle time in full or shortens it to 2 s, `q` leaves. For programs each screen is one JSON object;
they come as fast as they can be drawn, or at `--speed`. Secrets are taken out of every screen, and nothing of the
recording but text and colours reaches your terminal. What could not be captured is told in `note`.""",
    args_type=ReplayArgs,
    result_type=FrameItem,
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("replay 7", "from the beginning of what is kept"),
        OperationExample("replay 7 --at 10m --speed 2", "the last ten minutes, twice as fast"),
        OperationExample("replay 7 --at 2026-11-15T21:00 --until 2026-11-15T21:05 --json", "five minutes, as data"),
    ),
)
