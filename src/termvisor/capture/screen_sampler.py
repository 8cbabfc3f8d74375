"""Sample the screens of panes through the existing client of their server, without starting processes.

There are two reasons to sample a pane, each with its own schedule and consumer:

    it repainted    `RepaintSchedule`, from paint activity, which the pipeline finds in the pane's output with a
                    `RepaintDetector`; samples go to ``store_samples``
    it has an agent `AgentSchedule`, from the panes that ``agent_screens`` lists; screens go to its ``read_screen``
                    (also listed: panes that may show a remote agent, until that is settled)

A pane that is due for both reasons is captured once, and the sample of a repainting pane also serves its agent.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.output_rate import RateMeter
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.output import Mark
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import ScreenLifetime

# Samples due within this time are taken together, with one request per server.
_BATCH_WINDOW_S = 0.02
# Time without output after which a screen counts as complete.
QUIET_DELAY_S = 0.15
MIN_SAMPLE_INTERVAL_S = 0.5
MAX_SAMPLE_DELAY_S = 1.0
# Attempts for a sample that fails, for example because the server does not answer.
_MAX_ATTEMPTS = 10
AGENT_CHECK_INTERVAL_S = 0.5
_MIN_AGENT_INTERVAL_S = 1.0
_ACTIVE_AGENT_INTERVAL_S, _MAX_AGENT_INTERVAL_S = 2.0, 30.0
# Seconds after the last output before the interval grows: by then every hysteresis delay has passed.
_ACTIVE_PERIOD_S = 16.0

log = get_logger("capture.screens")


class ScreenSource(Protocol):
    """A server whose screens can be captured."""

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]: ...


class AgentScreens(Protocol):
    """The agents whose screens are classified."""

    def update_panes(self) -> Mapping[PaneId, int | None]:
        """Forget agents that are gone; return the panes to capture and the time of their last output."""

    def read_screen(self, pane: PaneId, capture: PaneCapture, at: int, interval_s: float | None) -> None:
        """Read a screen. The next one follows within ``interval_s``, which is None if none is scheduled."""


class ScreenSample(Struct, frozen=True):
    """A raw screen of a pane and the screen lifetime it belongs to."""

    lifetime: ScreenLifetime
    capture: PaneCapture
    captured_at: int


PaneLocator = Callable[[PaneId], tuple[ScreenSource, MuxPaneId] | None]
"""Return the server and tmux id of a pane, or None while the pane is unknown."""
SampleSink = Callable[[list[ScreenSample]], Awaitable[None]]


class PaintActivity(Struct, frozen=True):
    """Output of a pane; ``lifetime`` is None once the pane no longer repaints its screen."""

    pane: PaneId
    epoch: EpochId
    lifetime: ScreenLifetime | None = None
    is_mid_update: bool = False
    """Inside a synchronized update: the screen is half painted."""
    is_update_complete: bool = False
    """A synchronized update just ended: the screen is complete."""
    is_repaint: bool = True
    """False for plain output, which delays a pending sample but requests none."""


class RepaintSchedule(Struct):
    """Schedule of a repainting pane: it is sampled after it painted, not too often, and never while it is quiet.

    A program that never pauses is sampled at most MAX_SAMPLE_DELAY_S after its first unsampled paint. Times are
    monotonic seconds.
    """

    lifetime: ScreenLifetime
    last_output_at: float = 0.0
    last_sample_at: float = -MIN_SAMPLE_INTERVAL_S
    pending_since: float | None = None
    """Time of the first paint that has not been sampled yet."""
    is_mid_update: bool = False
    is_update_complete: bool = False
    attempts: int = 0

    def note_activity(self, activity: PaintActivity, now: float) -> None:
        self.last_output_at, self.attempts = now, 0
        self.is_mid_update = activity.is_mid_update
        self.is_update_complete = activity.is_update_complete and not activity.is_mid_update
        if activity.is_repaint and self.pending_since is None:
            self.pending_since = now

    @property
    def due_at(self) -> float | None:
        """Return when to sample, or None if nothing was painted since the last sample."""
        if self.pending_since is None:
            return None
        latest = self.pending_since + MAX_SAMPLE_DELAY_S
        # Otherwise a half-painted screen would be stored as if the program had shown it.
        settled_at = latest if self.is_mid_update else self.last_output_at + QUIET_DELAY_S
        if self.is_update_complete:
            settled_at = self.last_output_at
        return max(self.last_sample_at + MIN_SAMPLE_INTERVAL_S, min(settled_at, latest))

    def mark_sampled(self, now: float) -> None:
        """Record that a sample is being taken. Later paints request another one."""
        self.last_sample_at, self.pending_since, self.is_update_complete = now, None, False

    def mark_missed(self, now: float) -> None:
        """Retry a sample that failed, up to _MAX_ATTEMPTS times."""
        self.attempts += 1
        if self.pending_since is None and self.attempts < _MAX_ATTEMPTS:
            self.pending_since = now


class AgentSchedule(Struct):
    """Schedule of an agent's pane: it is sampled once its output has settled, then every two seconds for a while, then
    less and less often, to notice a screen that contradicts the agent's own signals."""

    due_at: float
    interval_s: float = _ACTIVE_AGENT_INTERVAL_S
    sampled_at: float = 0.0
    active_at: float = 0.0
    printed_at: int | None = None
    is_requested: bool = False
    """A capture is in progress, so a server that does not answer gets no second request for this pane."""

    def record_output(self, printed_at: int | None, now: float) -> None:
        """Schedule a sample for when the output has settled."""
        if printed_at != self.printed_at:
            self.printed_at, self.active_at, self.interval_s = printed_at, now, _ACTIVE_AGENT_INTERVAL_S
            self.due_at = min(self.due_at, max(now + AGENT_CHECK_INTERVAL_S, self.sampled_at + _MIN_AGENT_INTERVAL_S))

    def record_sample(self, now: float) -> None:
        is_active = now - self.active_at < _ACTIVE_PERIOD_S
        self.interval_s = _ACTIVE_AGENT_INTERVAL_S if is_active else min(_MAX_AGENT_INTERVAL_S, 2 * self.interval_s)
        self.sampled_at, self.due_at = now, now + self.interval_s


class _SampleBatch(Struct):
    """The panes of one server that are captured with one request."""

    server: ScreenSource
    panes: dict[MuxPaneId, PaneId] = field(default_factory=dict)
    lifetimes: dict[PaneId, ScreenLifetime] = field(default_factory=dict)
    """Screen lifetimes of the panes that repainted."""
    agents: dict[PaneId, AgentSchedule] = field(default_factory=dict)
    """Schedules of the panes that are due because of their agent."""


class ScreenSampler:
    def __init__(self, clock: Clock, locate_pane: PaneLocator, store_samples: SampleSink):
        self._clock, self._locate_pane, self._store_samples = clock, locate_pane, store_samples
        self.agent_screens: AgentScreens | None = None
        """Set once agents are tracked."""
        self._repaints: dict[PaneId, RepaintSchedule] = {}
        self._agents: dict[PaneId, AgentSchedule] = {}
        self._agent_check_at = 0.0
        self._wake = asyncio.Event()
        self._sleep_deadline = 0.0
        self._busy_servers: set[int] = set()
        """Servers whose last request for repainting panes is unanswered, or whose samples are still being stored."""
        self.meter = RateMeter()
        """Counts samples of repainting panes, a cost that the health report shows."""

    def note_activity(self, activity: PaintActivity) -> None:
        """Schedule a sample after paint activity. Called for every chunk of output, so it must be cheap."""
        schedule = self._repaints.get(activity.pane)
        if activity.lifetime is None:
            # The end of an older epoch may arrive after the first paint of the next one.
            if schedule is not None and schedule.lifetime.epoch == activity.epoch:
                del self._repaints[activity.pane]
            return
        if schedule is None:
            schedule = self._repaints[activity.pane] = RepaintSchedule(activity.lifetime)
        schedule.lifetime = activity.lifetime
        schedule.note_activity(activity, self._clock.monotonic())
        due = schedule.due_at
        if due is not None and due < self._sleep_deadline:
            self._wake.set()

    async def run(self) -> None:
        self._agent_check_at = self._clock.monotonic() + AGENT_CHECK_INTERVAL_S
        async with asyncio.TaskGroup() as group:
            while True:
                await self._wait_until_due()
                for batch in self.collect_due_panes():
                    # In its own task, because a server that does not answer must not delay the others.
                    group.create_task(self.sample_panes(batch))

    async def _wait_until_due(self) -> None:
        repaints = (due for schedule in self._repaints.values() if (due := schedule.due_at) is not None)
        due = self._sleep_deadline = min([self._agent_check_at, *repaints])
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, due - self._clock.monotonic())):
                await self._wake.wait()
        self._sleep_deadline = 0.0

    def collect_due_panes(self) -> list[_SampleBatch]:
        """Return the panes to sample now, by server."""
        now = self._clock.monotonic()
        batches: dict[int, _SampleBatch] = {}
        for pane, repaint in self._repaints.items():
            if (due := repaint.due_at) is None or due > now + _BATCH_WINDOW_S:
                continue
            repaint.mark_sampled(now)
            batch = self._add_to_batch(batches, pane, is_repaint=True)
            if batch is None:
                repaint.mark_missed(now)
            else:
                batch.lifetimes[pane] = repaint.lifetime
        for pane, agent in self._find_due_agents(now):
            if (batch := self._add_to_batch(batches, pane)) is not None:
                agent.is_requested, batch.agents[pane] = True, agent
        return list(batches.values())

    def _find_due_agents(self, now: float) -> list[tuple[PaneId, AgentSchedule]]:
        if now < self._agent_check_at:
            return []
        self._agent_check_at = now + AGENT_CHECK_INTERVAL_S
        panes = self.agent_screens.update_panes() if self.agent_screens is not None else {}
        self._agents = {pane: self._agents.get(pane) or AgentSchedule(due_at=now) for pane in panes}
        for pane, agent in self._agents.items():
            agent.record_output(panes[pane], now)
        due = [(pane, agent) for pane, agent in self._agents.items() if now >= agent.due_at and not agent.is_requested]
        for _, agent in due:
            agent.record_sample(now)
        return due

    def _add_to_batch(
        self, batches: dict[int, _SampleBatch], pane: PaneId, *, is_repaint: bool = False
    ) -> _SampleBatch | None:
        """Add a pane to its server's batch and return that; None if the pane is unknown or the server is busy."""
        location = self._locate_pane(pane)
        if location is None or (is_repaint and id(location[0]) in self._busy_servers):
            return None
        batch = batches.setdefault(id(location[0]), _SampleBatch(location[0]))
        batch.panes[location[1]] = pane
        return batch

    async def sample_panes(self, batch: _SampleBatch) -> None:
        captures: Mapping[PaneId, PaneCapture | None] = {}
        if batch.lifetimes:
            self._busy_servers.add(id(batch.server))
        try:
            captures = await self._request_captures(batch)
            at = self._clock.now()
            samples = [
                ScreenSample(lifetime, capture, at)
                for pane, lifetime in batch.lifetimes.items()
                # The pane may have entered or left the alternate screen since the sample was scheduled.
                if (capture := captures[pane]) is not None and capture.alternate == lifetime.is_alternate
            ]
            screens = {sample.lifetime.pane: sample.capture for sample in samples}
            screens |= {pane: capture for pane in batch.agents if (capture := captures[pane]) is not None}
            self._read_agent_screens(batch, screens, at)
            if samples:
                self.meter.count(len(samples), at, self._clock.monotonic())
                await self._store_samples(samples)
        finally:
            if batch.lifetimes:
                self._busy_servers.discard(id(batch.server))
        for pane in batch.lifetimes:
            if captures[pane] is None and (schedule := self._repaints.get(pane)):
                schedule.mark_missed(self._clock.monotonic())
                self._wake.set()

    async def _request_captures(self, batch: _SampleBatch) -> dict[PaneId, PaneCapture | None]:
        try:
            captures = await batch.server.capture_screens(list(batch.panes))
        except MuxError as error:
            # The server is gone or its client is being replaced. Repaints are retried; agents are sampled again anyway.
            log.debug("cannot sample screens: %s", error)
            return dict.fromkeys(batch.panes.values())
        finally:
            for agent in batch.agents.values():
                agent.is_requested = False
        return dict(zip(batch.panes.values(), captures, strict=True))

    def _read_agent_screens(self, batch: _SampleBatch, screens: Mapping[PaneId, PaneCapture], at: int) -> None:
        if self.agent_screens is None:
            return
        for pane, capture in screens.items():
            agent = self._agents.get(pane)
            if agent is not None and pane not in batch.agents:
                agent.record_sample(self._clock.monotonic())
            if agent is not None or pane not in batch.agents:  # otherwise its agent exited during the request
                self.agent_screens.read_screen(pane, capture, at, agent.interval_s if agent is not None else None)


class RepaintDetector:
    """Collector of the signs of repainting in one epoch between two calls of take_activity(). Pure.

    A program on the alternate screen always repaints. On the main screen it repaints if it moves back to earlier rows
    or sends synchronized updates while no shell is at its prompt.
    """

    def __init__(self, pane: PaneId, epoch: EpochId):
        self._pane, self._epoch = pane, epoch
        self._lifetime: ScreenLifetime | None = None
        self._row_jumps = 0
        self._is_mid_update = self._is_update_complete = self._has_sync_mark = False

    def observe_marks(self, marks: Iterable[Mark]) -> None:
        for mark in marks:
            if mark.kind in ("sync_on", "sync_off"):
                self._is_mid_update = mark.kind == "sync_on"
                self._is_update_complete = not self._is_mid_update
                self._has_sync_mark = True

    def take_activity(self, activity: PaneActivity, row_jumps: int) -> PaintActivity | None:
        """Return the paint activity since the last call, or None if the pane does not repaint.

        ``row_jumps`` counts cursor movements to other rows since the epoch began.
        """
        is_repaint = activity.kind == "alt_screen" or row_jumps != self._row_jumps or self._has_sync_mark
        is_mid_update, is_update_complete = self._is_mid_update, self._is_update_complete
        self._row_jumps, self._is_update_complete, self._has_sync_mark = row_jumps, False, False
        before, self._lifetime = self._lifetime, self._find_lifetime(activity, is_repaint=is_repaint)
        if self._lifetime is None:
            return None if before is None else PaintActivity(self._pane, self._epoch)
        return PaintActivity(self._pane, self._epoch, self._lifetime, is_mid_update, is_update_complete, is_repaint)

    def finish(self) -> PaintActivity | None:
        """Return the last activity of a closed epoch."""
        before, self._lifetime = self._lifetime, None
        return None if before is None else PaintActivity(self._pane, self._epoch)

    def _find_lifetime(self, activity: PaneActivity, *, is_repaint: bool) -> ScreenLifetime | None:
        if activity.kind in ("prompt", "gap"):
            return None
        is_alternate = activity.kind == "alt_screen"
        since = activity.since or 0 if activity.kind in ("alt_screen", "command") else 0
        lifetime = ScreenLifetime(self._pane, self._epoch, is_alternate, since)
        return lifetime if is_repaint or lifetime == self._lifetime else None
