"""Turn records, status marks and screens of agents into signals, with the agent's adapter.

In: records of files, hooks and servers; marks in the pane's output; captured screens. Out: signals, submitted to the
tracker. Marks and screens belong to the agent in their pane; a record says itself which process it is about.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, ScreenReading, SourceRecord, WatchedPath
from termvisor.agents.adapters.tool_finished import parse_tool_end
from termvisor.agents.state import titles
from termvisor.agents.state.signal_binding import is_folder_only
from termvisor.agents.tracking import screen_signal
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.record_owner import AgentWatch, find_record_owner
from termvisor.agents.tracking.screen_signal import ClassifiedScreen
from termvisor.agents.tracking.sessions import ARGV_SOURCE
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.signal import ProcessHint, Signal
from termvisor.model.agent.tool_finished import ToolFinished
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.model.terminal.mark import Mark, MarkKind
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.screen import Screen

SOURCE_BY_MARK: dict[MarkKind, str] = {
    "agent": "osc",
    "title": "title",
    "notification": "notification",
    "progress": "progress",
    "bell": "bell",
}
"""The marks that agents print, and the source that each of them belongs to."""
_MAX_EARLY_MARKS = 16
_MAX_EARLY_AGE_NS = 10 * NS
"""A mark may arrive before its agent is identified: this many per pane are buffered for this long."""


class PathWatcher(Protocol):
    """Reads the files of agents."""

    def watch(self, key: RuntimeId, watches: Sequence[WatchedPath], agent: str = "") -> None: ...

    def unwatch(self, key: RuntimeId) -> None: ...


class SignalReader:
    """``count_agents`` returns how many processes of an agent work in a folder, anywhere on this machine."""

    def __init__(
        self,
        tracker: AgentTracker,
        registry: AdapterRegistry,
        clock: Clock,
        *,
        record_transcripts: Callable[[list[tuple[str, SourceRecord]]], Awaitable[None]] | None = None,
        count_agents: Callable[[str, str], Awaitable[int]] | None = None,
        get_moved_at: Callable[[PaneId], int | None] = lambda pane: None,
    ):
        self._tracker, self._registry, self._clock = tracker, registry, clock
        self._record_transcripts, self._count_agents = record_transcripts, count_agents
        self.get_moved_at = get_moved_at
        self.path_watcher: PathWatcher | None = None
        self._watches_by_agent: dict[RuntimeId, list[AgentWatch]] = {}
        self._last_titles: dict[RuntimeId, str] = {}
        self._early_marks: dict[PaneId, deque[tuple[EpochId, int, Mark]]] = {}
        self._last_screens: dict[RuntimeId, ClassifiedScreen] = {}
        self.finished_tools: Bus[ToolFinished] = Bus()
        self.unclaimed_record_count = 0
        """Records without a known adapter."""

    async def read_records(self, records: Sequence[SourceRecord]) -> None:
        """Read records; return when their signals are stored."""
        watched = [one for several in self._watches_by_agent.values() for one in several]
        read: list[tuple[str, SourceRecord]] = []
        for record in records:
            processes = self._tracker.agents_by_pane.values()
            agents = self._registry.list_agents_with_source(record.source)
            agent = find_record_owner(record, agents, watched, processes)
            self.unclaimed_record_count += not agent
            read.append((agent, record))
            position = (record.source, (record.life, record.seq)) if record.seq is not None else None
            signals = [await self._mark_if_ambiguous(one) for one in self._registry.read_record(agent, record)]
            while not self._tracker.submit_facts(signals, position=record.bookmark or position):
                await self._tracker.wait_stored()
        await self._tracker.wait_stored()
        for _, record in read:
            if (finished := parse_tool_end(record)) is not None:
                self.finished_tools.publish(finished)
        if self._record_transcripts is not None:  # after the signals: their sessions must be known by then
            await self._record_transcripts(read)

    async def _mark_if_ambiguous(self, signal: Signal) -> Signal:
        """Mark a signal that names only a folder as doubtful if several processes of the agent work there."""
        hint, roster = signal.hint, self._tracker.state.knowledge.roster
        if self._count_agents is None or signal.runtime is not None or not is_folder_only(hint) or hint.is_doubtful:
            return signal
        is_known = any(signal.session in bound_agent.sessions for bound_agent in roster.agents.values())
        if is_known or await self._count_agents(signal.agent, hint.cwd) < 2:
            return signal
        return replace(signal, hint=replace(hint, is_doubtful=True))

    def read_marks(self, epoch: Epoch, marks: Sequence[tuple[int, Mark]]) -> None:
        """Read the marks that a pane printed, in order. Called for all panes, so it is cheap without an agent."""
        agent_process = self._tracker.find_agent_in_pane(epoch.pane)
        if agent_process is not None:
            for at, mark in marks:
                self._read_mark(agent_process, epoch.id, at, mark)
        elif early := [(epoch.id, at, mark) for at, mark in marks if mark.kind == "agent"]:
            self._early_marks.setdefault(epoch.pane, deque(maxlen=_MAX_EARLY_MARKS)).extend(early)

    def read_screen(self, screen: Screen, interval_ns: int) -> None:
        """Read a captured screen; the next capture follows after ``interval_ns``."""
        agent_process = self._tracker.find_agent_in_pane(screen.pane)
        if agent_process is None:
            return
        last = self._last_screens.get(agent_process.id)
        is_same = last is not None and last.rows == screen.rows
        reading = last.reading if is_same and last is not None else self._classify_screen(agent_process, screen)
        if reading is None:
            return
        classified = ClassifiedScreen(
            rows=screen.rows, reading=reading, at=screen.at, stored_at=last.stored_at if last is not None else 0
        )
        if screen_signal.is_news(last, classified, interval_ns):
            classified.stored_at = screen.at
            self._tracker.submit_facts(
                [screen_signal.build_screen_signal(agent_process, classified, self.get_moved_at(screen.pane))]
            )
        self._last_screens[agent_process.id] = classified

    def _classify_screen(self, agent_process: AgentProcess, screen: Screen) -> ScreenReading | None:
        session = self._tracker.get_session(agent_process.id)
        return self._registry.classify_screen(
            agent_process.agent, screen, session.version if session is not None else ""
        )

    def get_agent_on_screen(self, agent_process: AgentProcess) -> str:
        """Return the agent that its screen shows; an agent without a known process was found by its screen."""
        last = self._last_screens.get(agent_process.id)
        is_known = last is not None and bool(last.reading.rule) and last.reading.state != "unknown"
        return agent_process.agent if is_known or not agent_process.pid else ""

    def follow(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        """Watch the files of a new agent, and read the marks that it printed before it was identified."""
        watches = self._registry.list_watched_paths(agent_process.agent, process)
        self._watches_by_agent[agent_process.id] = [AgentWatch(agent_process.agent, watch) for watch in watches]
        if self.path_watcher is not None and watches:
            self.path_watcher.watch(agent_process.id, watches, agent_process.agent)
        self._adopt_argv_session(agent_process, process)
        oldest = max(agent_process.started_at, self._clock.now() - _MAX_EARLY_AGE_NS)
        for epoch, at, mark in self._early_marks.pop(agent_process.pane, ()):
            if at >= oldest:
                self._read_mark(agent_process, epoch, at, mark)

    def _adopt_argv_session(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        """Use the session id of the command line until the agent reports one itself."""
        session = self._tracker.get_session(agent_process.id)
        if session is None or session.external_id:
            return
        if name := self._registry.find_resumed_session(agent_process.agent, process):
            self._tracker.submit_facts([_build_argv_signal(agent_process, name, self._clock.now())])

    def leave(self, agent_process: AgentProcess) -> None:
        if self._watches_by_agent.pop(agent_process.id, None) and self.path_watcher is not None:
            self.path_watcher.unwatch(agent_process.id)
        self._last_titles.pop(agent_process.id, None)
        self._last_screens.pop(agent_process.id, None)

    def _read_mark(self, agent_process: AgentProcess, epoch: EpochId, at: int, mark: Mark) -> None:
        source = SOURCE_BY_MARK[mark.kind]
        if at < agent_process.started_at or not self._registry.has_source(agent_process.agent, source):
            return
        text = mark.text or ":".join(f"{name}={value}" for name, value in mark.params.items())
        if source == "title" and not self._is_new_title(agent_process, text):
            return
        record = SourceRecord(
            source=source, text=text, at=at, hint=build_hint(agent_process), event_id=f"{epoch}@{mark.offset}"
        )
        signals = self._registry.read_record(agent_process.agent, record) or _build_title_signals(agent_process, record)
        self._tracker.submit_facts(replace(one, runtime=agent_process.id) for one in signals)

    def _is_new_title(self, agent_process: AgentProcess, text: str) -> bool:
        """Return True if the title changed, apart from spinners."""
        title = titles.sanitize_title(text)
        is_new = self._last_titles.get(agent_process.id) != title
        self._last_titles[agent_process.id] = title
        return is_new


def build_hint(agent_process: AgentProcess) -> ProcessHint:
    place = agent_process.place
    return ProcessHint(
        target=place.target,
        socket=place.socket,
        mux_pane=place.mux_pane,
        pid=agent_process.pid,
        pid_started=agent_process.pid_started,
    )


def _build_argv_signal(agent_process: AgentProcess, session: str, at: int) -> Signal:
    return Signal(
        source=ARGV_SOURCE,
        tier="heuristic",
        agent=agent_process.agent,
        runtime=agent_process.id,
        session=session,
        event_at=at,
        ingested_at=at,
        dedupe_key=f"argv {agent_process.pid}@{agent_process.pid_started}",
        kind="note",
    )


def _build_title_signals(agent_process: AgentProcess, record: SourceRecord) -> list[Signal]:
    """Build a note for a title that the adapter does not interpret: it is still the pane's title."""
    if record.source != "title":
        return []
    note = Signal(
        source="title",
        tier="heuristic",
        agent=agent_process.agent,
        event_at=record.at,
        ingested_at=record.at,
        dedupe_key=record.event_id,
        kind="note",
        title=record.text,
    )
    return [note]
