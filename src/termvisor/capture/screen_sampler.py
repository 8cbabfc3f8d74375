"""Takes looks at panes that repaint, each through the one control client of its server; never starts a program.

What comes in: stirs, from who reads the stream. What goes out: looks, to who makes sightings of them.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.output_rate import RateMeter
from termvisor.capture.sampling_schedule import PaintActivity, SamplingSchedule
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.screen_row import ScreenLifetime

_BATCH_WINDOW_S = 0.02
"""Looks that are due within so many seconds are taken in one go."""

log = get_logger("eyes")


class ScreenSource(Protocol):
    """A server whose panes can be looked at."""

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]: ...


class ScreenSample(Struct, frozen=True):
    """What a pane showed at an instant, raw, in this life of its screen."""

    lifetime: ScreenLifetime
    capture: PaneCapture
    captured_at: int


PaneLocator = Callable[[PaneId], tuple[ScreenSource, MuxPaneId] | None]
"""Where a pane is, None while nobody knows."""
SampleSink = Callable[[list[ScreenSample]], Awaitable[None]]


class ScreenSampler:
    def __init__(self, clock: Clock, locate_pane: PaneLocator, deliver: SampleSink):
        self._clock, self._locate_pane, self._deliver = clock, locate_pane, deliver
        self._schedules: dict[PaneId, SamplingSchedule] = {}
        self._wake = asyncio.Event()
        self._sleep_deadline = 0.0
        self._busy_servers: set[int] = set()
        """Servers that have not answered yet, or whose last looks are still being stored."""
        self.meter = RateMeter()
        """Counts looks: what they cost is ours to show."""

    def note_activity(self, activity: PaintActivity) -> None:
        """A pane printed something. Called for every piece of output, so it does little."""
        pace = self._schedules.get(activity.pane)
        if activity.lifetime is None:
            if pace is not None and pace.lifetime.epoch == activity.epoch:
                del self._schedules[activity.pane]
            return
        if pace is None:
            pace = self._schedules[activity.pane] = SamplingSchedule(activity.lifetime)
        pace.lifetime = activity.lifetime
        pace.note_activity(activity, self._clock.monotonic())
        due = pace.due_at
        if due is not None and due < self._sleep_deadline:
            self._wake.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                await self._wait_until_due()
                for server, lives in self._collect_due_panes():
                    group.create_task(self._sample_panes(server, lives))

    async def _wait_until_due(self) -> None:
        due = min((at for pace in self._schedules.values() if (at := pace.due_at) is not None), default=None)
        self._sleep_deadline = float("inf") if due is None else due
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if due is None else max(0.0, due - self._clock.monotonic())):
                await self._wake.wait()
        self._sleep_deadline = 0.0

    def _collect_due_panes(self) -> list[tuple[ScreenSource, dict[MuxPaneId, ScreenLifetime]]]:
        """Whom to look at now, by server."""
        now = self._clock.monotonic()
        found: dict[int, tuple[ScreenSource, dict[MuxPaneId, ScreenLifetime]]] = {}
        for pane, pace in self._schedules.items():
            if (due := pace.due_at) is None or due > now + _BATCH_WINDOW_S:
                continue
            pace.mark_sampled(now)
            place = self._locate_pane(pane)
            if place is None or id(place[0]) in self._busy_servers:
                pace.mark_missed(now)
            else:
                found.setdefault(id(place[0]), (place[0], {}))[1][place[1]] = pace.lifetime
        return list(found.values())

    async def _sample_panes(self, server: ScreenSource, lifetimes: dict[MuxPaneId, ScreenLifetime]) -> None:
        self._busy_servers.add(id(server))
        try:
            seen = await self._request_captures(server, list(lifetimes))
            at = self._clock.now()
            pairs = zip(lifetimes.values(), seen, strict=True)
            looks = [
                ScreenSample(life, one, at) for life, one in pairs if one is not None and _is_same_screen(life, one)
            ]
            self.meter.count(len(looks), at, self._clock.monotonic())
            if looks:
                await self._deliver(looks)
        finally:
            self._busy_servers.discard(id(server))
        for life, one in zip(lifetimes.values(), seen, strict=True):
            if one is None and (pace := self._schedules.get(life.pane)):
                pace.mark_missed(self._clock.monotonic())
                self._wake.set()

    async def _request_captures(self, server: ScreenSource, panes: list[MuxPaneId]) -> list[PaneCapture | None]:
        try:
            return await server.capture_screens(panes)
        except MuxError as error:
            log.debug("no look was possible: %s", error)
            return [None] * len(panes)


def _is_same_screen(lifetime: ScreenLifetime, capture: PaneCapture) -> bool:
    """Whether the pane still shows the screen whose life it was: it may have left the alternate one meanwhile."""
    return capture.alternate == lifetime.is_alternate
