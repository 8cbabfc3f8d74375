"""Operation `replay`: render the past screens of a pane from its recording, frame by frame."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import NS, Clock, format_timestamp
from termvisor.errors import BadRequest
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneReference, resolve_pane
from termvisor.ops.render.results import copy_fields, parse_time_filter
from termvisor.ops.render.text import RenderOptions


class ReplayArgs(Struct, frozen=True, kw_only=True):
    """The pane, the period and the speed."""

    pane: PaneReference
    at: Annotated[
        str | None, Meta(description="Start time: ISO 8601, today, or an age such as 10m. Default: the beginning.")
    ] = None
    until: Annotated[str | None, Meta(description="End time: ISO 8601, or an age such as 5m.")] = None
    speed: Annotated[
        float, Meta(description="Speed factor; 0 (the default for programs) means as fast as possible.", ge=0, le=1000)
    ] = 0.0


class FrameItem(Struct, frozen=True, kw_only=True):
    """``rows`` contain only text and SGR colours; ``note`` reports what is not visible, for example a gap."""

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
        raise BadRequest("--until is before --at")
    pane = (await resolve_pane(services, args.pane)).id
    pacer = _ReplayPacer(services.clock, args.speed)
    async with aclosing(services.history.recording.render_frames(pane, since=since, until=until)) as frames:
        async for frame in frames:
            await pacer.wait_until(frame.at)
            yield copy_fields(FrameItem, frame, at=format_timestamp(frame.at))


class _ReplayPacer:
    """Delays frames to the recorded pace, times ``speed``; 0 does not delay."""

    def __init__(self, clock: Clock, speed: float):
        self._clock, self._speed = clock, speed
        self._start: tuple[int, float] | None = None

    async def wait_until(self, at: int) -> None:
        if not self._speed:
            return
        # Measured from the first frame, so that errors in the delays of single frames do not add up.
        first_at, started_at = self._start = self._start or (at, self._clock.monotonic())
        elapsed = self._clock.monotonic() - started_at
        await self._clock.sleep(max(0.0, (at - first_at) / NS / self._speed - elapsed))


def render_text(result: FrameItem, options: RenderOptions) -> str:
    raise BadRequest(
        "replay requires a terminal",
        hint=f"Write a recording with `visor export {result.pane} --cast --output pane.cast`, or use --json.",
    )


OP = Operation(
    name="replay",
    robot_name="replay",
    summary="Play the recording of a pane: pause, seek, step.",
    doc="""In a terminal it is a player: space pauses, the arrow keys seek (left and right 10 s, up and down 1 min), `.`
steps to the next output, `e` and `E` seek to the next and the previous event, `+` and `-` change the speed, `i` toggles
between full idle time and at most 2 s, `q` quits. For programs each screen is one JSON object, as fast as possible or
at `--speed`. Secrets are redacted, and only text and colours of the recording reach your terminal. `note` reports
output that was not captured.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    is_verbatim=True,
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("replay 7", "play from the oldest stored output"),
        OperationExample("replay 7 --at 10m --speed 2", "play the last ten minutes at double speed"),
        OperationExample(
            "replay 7 --at 2026-11-15T21:00 --until 2026-11-15T21:05 --json", "print five minutes as JSON"
        ),
    ),
)
