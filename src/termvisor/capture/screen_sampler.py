"""Sample the screens of panes that repaint, through the existing client of their server; start no process.

Input: paint activity from the pipeline. Output: screen samples to ``deliver``.
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
"""Samples due within this time are taken with one request for each server."""

log = get_logger("eyes")


class ScreenSource(Protocol):
    """A server whose screens can be captured."""

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]: ...


class ScreenSample(Struct, frozen=True):
    """A raw screen of a pane and the screen lifetime it belongs to."""

    lifetime: ScreenLifetime
    capture: PaneCapture
    captured_at: int


PaneLocator = Callable[[PaneId], tuple[ScreenSource, MuxPaneId] | None]
"""Return the server and tmux id of a pane, None while it is not known."""
SampleSink = Callable[[list[ScreenSample]], Awaitable[None]]


class ScreenSampler:
    def __init__(self, clock: Clock, locate_pane: PaneLocator, deliver: SampleSink):
        self._clock, self._locate_pane, self._deliver = clock, locate_pane, deliver
        self._schedules: dict[PaneId, SamplingSchedule] = {}
        self._wake = asyncio.Event()
        self._sleep_deadline = 0.0
        self._busy_servers: set[int] = set()
        """Servers whose last request is unanswered or whose samples are still being stored."""
        self.meter = RateMeter()
        """Counts samples, for the cost shown in the health report."""

    def note_activity(self, activity: PaintActivity) -> None:
        """Schedule a sample after paint activity. Called for every chunk of output, so it must be cheap."""
        schedule = self._schedules.get(activity.pane)
        if activity.lifetime is None:
            if schedule is not None and schedule.lifetime.epoch == activity.epoch:
                del self._schedules[activity.pane]
            return
        if schedule is None:
            schedule = self._schedules[activity.pane] = SamplingSchedule(activity.lifetime)
        schedule.lifetime = activity.lifetime
        schedule.note_activity(activity, self._clock.monotonic())
        due = schedule.due_at
        if due is not None and due < self._sleep_deadline:
            self._wake.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                await self._wait_until_due()
                for server, lifetimes in self._collect_due_panes():
                    group.create_task(self._sample_panes(server, lifetimes))

    async def _wait_until_due(self) -> None:
        due = min((at for schedule in self._schedules.values() if (at := schedule.due_at) is not None), default=None)
        self._sleep_deadline = float("inf") if due is None else due
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if due is None else max(0.0, due - self._clock.monotonic())):
                await self._wake.wait()
        self._sleep_deadline = 0.0

    def _collect_due_panes(self) -> list[tuple[ScreenSource, dict[MuxPaneId, ScreenLifetime]]]:
        """Return the panes to sample now, by server."""
        now = self._clock.monotonic()
        due_by_server: dict[int, tuple[ScreenSource, dict[MuxPaneId, ScreenLifetime]]] = {}
        for pane, schedule in self._schedules.items():
            if (due := schedule.due_at) is None or due > now + _BATCH_WINDOW_S:
                continue
            schedule.mark_sampled(now)
            location = self._locate_pane(pane)
            if location is None or id(location[0]) in self._busy_servers:
                schedule.mark_missed(now)
            else:
                due_by_server.setdefault(id(location[0]), (location[0], {}))[1][location[1]] = schedule.lifetime
        return list(due_by_server.values())

    async def _sample_panes(self, server: ScreenSource, lifetimes: dict[MuxPaneId, ScreenLifetime]) -> None:
        self._busy_servers.add(id(server))
        try:
            captures = await self._request_captures(server, list(lifetimes))
            at = self._clock.now()
            samples = [
                ScreenSample(lifetime, capture, at)
                for lifetime, capture in zip(lifetimes.values(), captures, strict=True)
                if capture is not None and _is_same_screen(lifetime, capture)
            ]
            self.meter.count(len(samples), at, self._clock.monotonic())
            if samples:
                await self._deliver(samples)
        finally:
            self._busy_servers.discard(id(server))
        for lifetime, capture in zip(lifetimes.values(), captures, strict=True):
            if capture is None and (schedule := self._schedules.get(lifetime.pane)):
                schedule.mark_missed(self._clock.monotonic())
                self._wake.set()

    async def _request_captures(self, server: ScreenSource, panes: list[MuxPaneId]) -> list[PaneCapture | None]:
        try:
            return await server.capture_screens(panes)
        except MuxError as error:
            log.debug("cannot sample screens: %s", error)
            return [None] * len(panes)


def _is_same_screen(lifetime: ScreenLifetime, capture: PaneCapture) -> bool:
    """Return False if the pane entered or left the alternate screen since the sample was scheduled."""
    return capture.alternate == lifetime.is_alternate
