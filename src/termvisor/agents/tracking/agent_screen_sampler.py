"""Sample the screens of agents: reuse the captures of the screen sampler, and capture panes that do not repaint.

After a burst of output a pane is captured once it has settled, then every two seconds for a while, then less and less
often, up to 30 s apart, so that a screen that contradicts the agent's own signals is noticed. Captures go through the
control client; no process is started.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from termvisor.agents.tracking.pane_info import PaneInfo
from termvisor.agents.tracking.remote_agents import RemoteAgentDetector
from termvisor.agents.tracking.signal_reader import SignalReader
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import PaneLocator, ScreenSample, ScreenSource
from termvisor.clock import NS, Clock
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.redaction import Redactor, SeenSecrets

TICK_S = 0.5
_MIN_SAMPLE_INTERVAL_S = 1.0
_ACTIVE_SAMPLE_INTERVAL_S, _MAX_SAMPLE_INTERVAL_S = 2.0, 30.0
_ACTIVE_PERIOD_S = 16.0
"""Seconds after the last output before the interval grows: by then every hysteresis delay has passed."""
log = get_logger("agents")


class AgentSamplingPace(Struct):
    """When the pane of one agent is sampled next, in seconds of the monotonic clock."""

    due_at: float
    interval_s: float = _ACTIVE_SAMPLE_INTERVAL_S
    sampled_at: float = 0.0
    active_at: float = 0.0
    moved_at: int | None = None

    def record_output(self, moved_at: int | None, now: float) -> None:
        """Schedule a sample for when the output has settled."""
        if moved_at != self.moved_at:
            self.moved_at, self.active_at, self.interval_s = moved_at, now, _ACTIVE_SAMPLE_INTERVAL_S
            self.due_at = min(self.due_at, max(now + TICK_S, self.sampled_at + _MIN_SAMPLE_INTERVAL_S))

    def record_sample(self, now: float) -> None:
        is_active = now - self.active_at < _ACTIVE_PERIOD_S
        self.interval_s = _ACTIVE_SAMPLE_INTERVAL_S if is_active else min(_MAX_SAMPLE_INTERVAL_S, 2 * self.interval_s)
        self.sampled_at, self.due_at = now, now + self.interval_s


class AgentScreenSampler:
    def __init__(
        self, tracker: AgentTracker, signal_reader: SignalReader, remote_agents: RemoteAgentDetector, clock: Clock
    ):
        self._tracker, self._signal_reader = tracker, signal_reader
        self._remote_agents, self._clock = remote_agents, clock
        self.get_pane_info: Callable[[PaneId], PaneInfo | None] = lambda pane: None
        self.locate_pane: PaneLocator = lambda pane: None
        self.get_seen_secrets: Callable[[PaneId], SeenSecrets] = lambda pane: SeenSecrets()
        self._paces_by_pane: dict[PaneId, AgentSamplingPace] = {}

    async def run(self) -> None:
        while True:
            await self._clock.sleep(TICK_S)
            await self.sample_due_panes()

    async def sample_due_panes(self) -> None:
        agents = self._tracker.agents_by_pane
        if not agents and not self._paces_by_pane:
            return
        now = self._clock.monotonic()
        self._paces_by_pane = {pane: self._paces_by_pane.get(pane) or AgentSamplingPace(due_at=now) for pane in agents}
        for pane, pace in self._paces_by_pane.items():
            pace.record_output(self._signal_reader.get_moved_at(pane), now)
        for pane in [pane for pane, agent_process in agents.items() if not agent_process.pid]:
            if pane_info := self.get_pane_info(pane):
                self._remote_agents.end_if_gone(pane_info)
        for server, panes in self._group_due_panes(now):
            await self._capture_panes(server, panes)

    def add_captures(self, captures: Sequence[ScreenSample]) -> None:
        """Read screens that were captured by the screen sampler of the panes."""
        now = self._clock.monotonic()
        for sample in captures:
            pane = sample.lifetime.pane
            if pace := self._paces_by_pane.get(pane):
                pace.record_sample(now)
                self._read_screen(pane, sample.capture, sample.captured_at, pace)
            elif (
                pane not in self._tracker.agents_by_pane
                and (pane_info := self.get_pane_info(pane))
                and self._remote_agents.is_due(pane_info)
            ):
                screen = self._build_screen(pane, sample.capture, sample.captured_at)
                self._remote_agents.scan_screen(pane_info, screen)

    def _group_due_panes(self, now: float) -> list[tuple[ScreenSource, dict[MuxPaneId, PaneId]]]:
        found: dict[int, tuple[ScreenSource, dict[MuxPaneId, PaneId]]] = {}
        for pane, pace in self._paces_by_pane.items():
            if now < pace.due_at:
                continue
            pace.record_sample(now)
            if place := self.locate_pane(pane):
                found.setdefault(id(place[0]), (place[0], {}))[1][place[1]] = pane
        return list(found.values())

    async def _capture_panes(self, server: ScreenSource, panes: dict[MuxPaneId, PaneId]) -> None:
        try:
            captures = await server.capture_screens(list(panes))
        except MuxError as error:  # the server is gone or busy: the next sample tries again
            log.debug("screens of agents were not captured: %s", error)
            return
        at = self._clock.now()
        for pane, capture in zip(panes.values(), captures, strict=True):
            if capture is not None and (pace := self._paces_by_pane.get(pane)):
                self._read_screen(pane, capture, at, pace)

    def _read_screen(self, pane: PaneId, capture: PaneCapture, at: int, pace: AgentSamplingPace) -> None:
        self._signal_reader.read_screen(self._build_screen(pane, capture, at), int(pace.interval_s * NS))

    def _build_screen(self, pane: PaneId, capture: PaneCapture, at: int) -> Screen:
        rows = Redactor(seen_secrets=self.get_seen_secrets(pane)).redact_lines([row.rstrip() for row in capture.rows])
        return capture.to_screen(pane, rows, at)
