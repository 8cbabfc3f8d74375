"""Looks at the screens of agents: those that the eyes take anyway, and, where a pane does not repaint, some of its own.

After a burst of output a pane is looked at once it has settled; then every two seconds for a while, and then ever more
seldom, up to thirty seconds apart, so that a screen which says something else than the agent is noticed. All goes
through the control client; no program is started.
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
"""Seconds after the last output before looks become seldom: by then all that looks can prove is proven."""
log = get_logger("gaze")


class AgentSamplingPace(Struct):
    """The rhythm of one agent's pane, in seconds of a clock that never runs backwards."""

    due_at: float
    interval_s: float = _ACTIVE_SAMPLE_INTERVAL_S
    sampled_at: float = 0.0
    active_at: float = 0.0
    moved_at: int | None = None

    def record_output(self, moved_at: int | None, now: float) -> None:
        """It printed: once that has settled, it is looked at."""
        if moved_at != self.moved_at:
            self.moved_at, self.active_at, self.interval_s = moved_at, now, _ACTIVE_SAMPLE_INTERVAL_S
            self.due_at = min(self.due_at, max(now + TICK_S, self.sampled_at + _MIN_SAMPLE_INTERVAL_S))

    def record_sample(self, now: float) -> None:
        """It is being looked at."""
        is_wakeful = now - self.active_at < _ACTIVE_PERIOD_S
        self.interval_s = _ACTIVE_SAMPLE_INTERVAL_S if is_wakeful else min(_MAX_SAMPLE_INTERVAL_S, 2 * self.interval_s)
        self.sampled_at, self.due_at = now, now + self.interval_s


class AgentScreenSampler:
    def __init__(
        self, tracker: AgentTracker, signal_reader: SignalReader, remote_agents: RemoteAgentDetector, clock: Clock
    ):
        self._tracker, self._signal_reader, self._remote_agents, self._clock = (
            tracker,
            signal_reader,
            remote_agents,
            clock,
        )
        self.get_pane_info: Callable[[PaneId], PaneInfo | None] = lambda pane: None
        self.locate_pane: PaneLocator = lambda pane: None
        self.get_seen_secrets: Callable[[PaneId], SeenSecrets] = lambda pane: SeenSecrets()
        self._paces_by_pane: dict[PaneId, AgentSamplingPace] = {}

    async def run(self) -> None:
        while True:
            await self._clock.sleep(TICK_S)
            await self.sample_due_panes()

    async def sample_due_panes(self) -> None:
        """Look at those whose time has come."""
        living = self._tracker.agents_by_pane
        if not living and not self._paces_by_pane:
            return
        now = self._clock.monotonic()
        self._paces_by_pane = {pane: self._paces_by_pane.get(pane) or AgentSamplingPace(due_at=now) for pane in living}
        for pane, pace in self._paces_by_pane.items():
            pace.record_output(self._signal_reader.get_moved_at(pane), now)
        for pane in [pane for pane, runtime in living.items() if not runtime.pid]:
            if one := self.get_pane_info(pane):
                self._remote_agents.end_if_gone(one)
        for server, panes in self._group_due_panes(now):
            await self._capture_panes(server, panes)

    def add_captures(self, captures: Sequence[ScreenSample]) -> None:
        """What the eyes saw."""
        now = self._clock.monotonic()
        for look in captures:
            pane = look.lifetime.pane
            if pace := self._paces_by_pane.get(pane):
                pace.record_sample(now)
                self._read_screen(pane, look.capture, look.captured_at, pace)
            elif (
                pane not in self._tracker.agents_by_pane
                and (one := self.get_pane_info(pane))
                and self._remote_agents.is_due(one)
            ):
                self._remote_agents.scan_screen(one, self._build_screen(pane, look.capture, look.captured_at))

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
            seen = await server.capture_screens(list(panes))
        except MuxError as error:
            log.debug("no look was possible: %s", error)
            return
        at = self._clock.now()
        for pane, one in zip(panes.values(), seen, strict=True):
            if one is not None and (pace := self._paces_by_pane.get(pane)):
                self._read_screen(pane, one, at, pace)

    def _read_screen(self, pane: PaneId, capture: PaneCapture, at: int, pace: AgentSamplingPace) -> None:
        self._signal_reader.read_screen(self._build_screen(pane, capture, at), int(pace.interval_s * NS))

    def _build_screen(self, pane: PaneId, capture: PaneCapture, at: int) -> Screen:
        rows = Redactor(seen_secrets=self.get_seen_secrets(pane)).redact_lines([row.rstrip() for row in capture.rows])
        return capture.to_screen(pane, rows, at)
