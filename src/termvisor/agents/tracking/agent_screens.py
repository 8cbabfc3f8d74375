"""Classify the screens of agents, and submit what they show as signals (`AgentScreenReader`).

In: screens from `capture.screen_sampler`, which also asks here for the panes with an agent. Out: signals, only for a
change or an occasional repeat, because most screens are equal. A screen of a pane without an agent may show a remote
one.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.loader import list_recorded_versions
from termvisor.agents.adapters.screen_composer import count_rows_above_composer
from termvisor.agents.state.hysteresis import REST_STATES
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_discovery import PaneInfo
from termvisor.agents.tracking.remote_agents import RemoteAgentDetector
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.backends.pane_source import PaneCapture
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.program_version import classify_version, parse_version
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import UnknownReason
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.model.terminal.screen import Screen
from termvisor.redaction import Redactor, SeenSecrets
from termvisor.terminal.input_area import locate_cursor

_REPEAT_AFTER_NS = 5 * NS
# The interval between samples of a changing pane, on which the rest delay is based.
_ACTIVE_SAMPLE_INTERVAL_NS = 2 * NS


class ClassifiedScreen(Struct, kw_only=True):
    rows: tuple[str, ...]
    reading: ScreenReading
    at: int
    stored_at: int = 0
    """When a screen with the same reading was last stored."""
    moved_at: int | None = None
    """When the pane last printed something else than text typed at the prompt."""
    version: str = ""
    """The version of the program by which it was classified."""
    unknown_reason: UnknownReason = "unknown_screen"
    """The reason if its state is unknown."""


class ScreenCounts(Struct, frozen=True):
    """How many different screens of an agent process were read, and how many of them no rule recognized."""

    seen: int = 0
    strange: int = 0


class AgentScreenReader:
    def __init__(self, tracker: AgentTracker, registry: AdapterRegistry, remote_agents: RemoteAgentDetector):
        self._tracker, self._registry, self._remote_agents = tracker, registry, remote_agents
        self.get_pane_info: Callable[[PaneId], PaneInfo | None] = lambda pane: None
        self.list_carrier_panes: Callable[[], Iterable[PaneInfo]] = lambda: ()
        """Return the panes whose program may show a remote agent."""
        self.get_moved_at: Callable[[PaneId], int | None] = lambda pane: None
        """Return when the pane printed last."""
        self.get_seen_secrets: Callable[[PaneId], SeenSecrets] = lambda pane: SeenSecrets()
        self.find_banner_version: Callable[[str, Sequence[str]], str] = lambda agent, rows: ""
        """Return the version in the banner of an agent, if these rows show it."""
        self._last_screens: dict[RuntimeId, ClassifiedScreen] = {}
        self._screen_counts: dict[RuntimeId, ScreenCounts] = {}

    def update_panes(self) -> dict[PaneId, int | None]:
        """Return the panes to capture and the time of their last output; end remote agents that are gone."""
        agents = self._tracker.agents_by_pane
        for pane in [pane for pane, agent_process in agents.items() if not agent_process.pid]:
            if pane_info := self.get_pane_info(pane):
                self._remote_agents.end_if_gone(pane_info)
        running = {agent_process.id for agent_process in agents.values()}
        self._last_screens = {number: screen for number, screen in self._last_screens.items() if number in running}
        self._screen_counts = {number: counts for number, counts in self._screen_counts.items() if number in running}
        carriers = [one for one in self.list_carrier_panes() if one.pane not in agents]
        return {
            pane: self.get_moved_at(pane) for pane in (*agents, *self._remote_agents.list_unsettled_panes(carriers))
        }

    def read_screen(self, pane: PaneId, capture: PaneCapture, at: int, interval_s: float | None) -> None:
        """Read a captured screen; ``interval_s`` is the time until the next, None if none is scheduled."""
        agent_process = self._tracker.find_agent_in_pane(pane)
        if agent_process is None:
            self._scan_for_remote_agent(pane, capture, at)
        elif interval_s is not None:
            self._read_agent_screen(agent_process, self._build_screen(pane, capture, at), int(interval_s * NS))

    def _scan_for_remote_agent(self, pane: PaneId, capture: PaneCapture, at: int) -> None:
        pane_info = self.get_pane_info(pane)
        if pane_info is None:
            return
        if self._remote_agents.is_due(pane_info):
            self._remote_agents.scan_screen(pane_info, self._build_screen(pane, capture, at))
        else:
            self._remote_agents.skip_screen(pane_info)

    def _build_screen(self, pane: PaneId, capture: PaneCapture, at: int) -> Screen:
        rows = Redactor(seen_secrets=self.get_seen_secrets(pane)).redact_lines([row.rstrip() for row in capture.rows])
        screen = capture.to_screen(pane, rows, at)
        size = (capture.width, capture.height)
        cursor = locate_cursor(capture.rows, size, capture.cursor_x, capture.cursor_y)
        return screen if cursor is None else replace(screen, cursor_y=cursor[0], cursor_x=cursor[1])

    def _read_agent_screen(self, agent_process: AgentProcess, screen: Screen, interval_ns: int) -> None:
        last, version = self._last_screens.get(agent_process.id), self._tracker.get_version(agent_process.id)
        is_same = last is not None and last.rows == screen.rows
        if last is not None and is_same and last.version == version:
            reading: ScreenReading | None = last.reading
        else:
            reading = self._classify_screen(agent_process, screen, version)
        if reading is None:
            return
        if not is_same:
            self._count_screen(agent_process.id, reading)
        classified = ClassifiedScreen(
            rows=screen.rows,
            reading=reading,
            at=screen.at,
            stored_at=last.stored_at if last is not None else 0,
            moved_at=find_moved_at(last, screen, reading, self.get_moved_at(screen.pane)),
            version=version,
            unknown_reason=choose_unknown_reason(agent_process.agent, version),
        )
        if is_news(last, classified, interval_ns):
            classified.stored_at = screen.at
            self._tracker.submit_facts([build_screen_signal(agent_process, classified, classified.moved_at)])
        self._last_screens[agent_process.id] = classified

    def _classify_screen(self, agent_process: AgentProcess, screen: Screen, version: str) -> ScreenReading | None:
        """Classify a screen. If the version is unknown, the banner may show it."""
        reading = self._registry.classify_screen(agent_process.agent, screen, version)
        shown = "" if version else parse_version(self.find_banner_version(agent_process.agent, screen.rows))
        return replace(reading, details={**reading.details, "version": shown}) if reading and shown else reading

    def _count_screen(self, agent_process_id: RuntimeId, reading: ScreenReading) -> None:
        counts = self.get_screen_counts(agent_process_id)
        self._screen_counts[agent_process_id] = ScreenCounts(
            counts.seen + 1, counts.strange + (reading.state == "unknown")
        )

    def get_screen_counts(self, agent_process_id: RuntimeId) -> ScreenCounts:
        """Return the numbers of screens since the daemon started."""
        return self._screen_counts.get(agent_process_id, ScreenCounts())

    def get_agent_on_screen(self, agent_process: AgentProcess) -> str:
        """Return the agent on the screen; without a known process, it was recognized by the screen alone."""
        last = self._last_screens.get(agent_process.id)
        is_known = last is not None and bool(last.reading.rule) and last.reading.state != "unknown"
        return agent_process.agent if is_known or not agent_process.pid else ""


def choose_unknown_reason(agent: str, version: str) -> UnknownReason:
    """Return why the state is unknown if no rule recognizes a screen of this version."""
    is_unseen = classify_version(version, list_recorded_versions(agent)) == "unseen"
    return "unseen_version" if is_unseen else "unknown_screen"


def is_news(last: ClassifiedScreen | None, now: ClassifiedScreen, interval_ns: int) -> bool:
    """Return True if the reading changed or is due to be repeated. The next sample follows after ``interval_ns``."""
    if last is None or _get_comparable_fields(last) != _get_comparable_fields(now):
        return True
    # abs: the clock may have been set back.
    return abs(now.at - last.stored_at) >= max(_REPEAT_AFTER_NS, interval_ns)


def find_moved_at(
    last: ClassifiedScreen | None, screen: Screen, reading: ScreenReading, printed_at: int | None
) -> int | None:
    """Return when the pane last printed, not counting changes at or below the composer of a resting agent.

    Text that a user types, and notices in the footer, change nothing above it. A hidden cursor may stand below both.
    """
    if last is None or reading.state not in REST_STATES:
        return printed_at
    above = slice(0, count_rows_above_composer(screen))
    return last.moved_at if last.rows[above] == screen.rows[above] else printed_at


def build_screen_signal(
    agent_process: AgentProcess, classified_screen: ClassifiedScreen, moved_at: int | None
) -> Signal:
    """Build the signal of a screen. An unknown screen of a remote agent means that the agent may be gone."""
    reading = classified_screen.reading
    is_absent = not agent_process.pid and reading.state == "unknown"
    return Signal(
        source="screen",
        tier="heuristic",
        agent=agent_process.agent,
        runtime=agent_process.id,
        event_at=classified_screen.at,
        ingested_at=classified_screen.at,
        dedupe_key=f"screen@{classified_screen.at}",
        kind="no_agent" if is_absent else "state",
        state=None if is_absent else reading.state,
        reason=classified_screen.unknown_reason if reading.state == "unknown" and not is_absent else None,
        flags=reading.flags,
        tasks=None if reading.tasks is None else tuple(f"shown {at + 1}" for at in range(reading.tasks)),
        moved_at=moved_at,
        look_interval=_ACTIVE_SAMPLE_INTERVAL_NS,
        payload={**reading.details, "rule": reading.rule} if reading.rule else dict(reading.details),
        confidence=min(1.0, max(0.0, reading.confidence)),
    )


def _get_comparable_fields(classified_screen: ClassifiedScreen) -> tuple[object, ...]:
    reading = classified_screen.reading
    # While an agent works, what its screen shows is mostly counters.
    details = {"version": reading.details.get("version")} if reading.state == "running" else reading.details
    reason = classified_screen.unknown_reason if reading.state == "unknown" else None
    return reading.state, reason, reading.rule, reading.flags, reading.tasks, details
