"""Turn records and status marks of agents into signals, using the agent's adapter.

In: records of files, hooks and servers; marks in the pane's output. Out: signals, submitted to the tracker. Marks
belong to the agent in their pane. A record itself states which process it is about, and `find_record_owner` finds whose
adapter reads it.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord, WatchedPath
from termvisor.agents.adapters.statements import parse_tool_end
from termvisor.agents.sources.hook_spool import HOOK_SOURCE
from termvisor.agents.sources.source_watcher import SourceWatcher
from termvisor.agents.state import titles
from termvisor.agents.state.signal_binding import is_folder_only
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.sessions import ARGV_SOURCE
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.hooks import ToolFinished
from termvisor.model.agent.signal import ProcessHint, Signal
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.model.terminal.output import Epoch, Mark, MarkKind

# The marks that agents print, and the source that each of them belongs to.
SOURCE_BY_MARK: dict[MarkKind, str] = {
    "agent": "osc",
    "title": "title",
    "notification": "notification",
    "progress": "progress",
    "bell": "bell",
}
_MAX_EARLY_MARKS = 16
# A mark may arrive before its agent is identified, so this many per pane are buffered for this long.
_MAX_EARLY_AGE_NS = 10 * NS


class SignalReader:
    """Reader of records and marks; ``count_agents`` counts the processes of an agent in a folder, machine-wide."""

    def __init__(
        self,
        tracker: AgentTracker,
        registry: AdapterRegistry,
        clock: Clock,
        *,
        record_transcripts: Callable[[list[tuple[str, SourceRecord]]], Awaitable[None]] | None = None,
        count_agents: Callable[[str, str], Awaitable[int]] | None = None,
    ):
        self._tracker, self._registry, self._clock = tracker, registry, clock
        self._record_transcripts, self._count_agents = record_transcripts, count_agents
        self.path_watcher: SourceWatcher | None = None
        self._watches_by_agent: dict[RuntimeId, list[tuple[str, WatchedPath]]] = {}
        self._last_titles: dict[RuntimeId, str] = {}
        self._early_marks: dict[PaneId, deque[tuple[EpochId, int, Mark]]] = {}
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
        if self._record_transcripts is not None:  # after the signals, because their sessions must be known by then
            await self._record_transcripts(read)

    async def _mark_if_ambiguous(self, signal: Signal) -> Signal:
        """Mark a signal that names only a folder as ambiguous if several processes of the agent work there."""
        hint, roster = signal.hint, self._tracker.state.knowledge.roster
        if self._count_agents is None or signal.runtime is not None or not is_folder_only(hint) or hint.is_doubtful:
            return signal
        is_known = any(signal.session in bound_agent.sessions for bound_agent in roster.agents.values())
        if is_known or await self._count_agents(signal.agent, hint.cwd) < 2:
            return signal
        return replace(signal, hint=replace(hint, is_doubtful=True))

    def read_marks(self, epoch: Epoch, marks: Sequence[tuple[int, Mark]]) -> None:
        """Read the marks that a pane printed, in order. Called for all panes, so it must be cheap without an agent."""
        agent_process = self._tracker.find_agent_in_pane(epoch.pane)
        if agent_process is not None:
            for at, mark in marks:
                self._read_mark(agent_process, epoch.id, at, mark)
        elif early := [(epoch.id, at, mark) for at, mark in marks if mark.kind == "agent"]:
            self._early_marks.setdefault(epoch.pane, deque(maxlen=_MAX_EARLY_MARKS)).extend(early)

    def follow(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        """Watch the files of a new agent, and read the marks that it printed before it was identified."""
        watches = self._registry.list_watched_paths(agent_process.agent, process)
        self._watches_by_agent[agent_process.id] = [(agent_process.agent, watch) for watch in watches]
        if self.path_watcher is not None and watches:
            self.path_watcher.watch(agent_process.id, watches, agent_process.agent)
        self._adopt_argv_session(agent_process, process)
        self._adopt_version(agent_process, process)
        oldest = max(agent_process.started_at, self._clock.now() - _MAX_EARLY_AGE_NS)
        for epoch, at, mark in self._early_marks.pop(agent_process.pane, ()):
            if at >= oldest:
                self._read_mark(agent_process, epoch, at, mark)

    def _adopt_argv_session(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        """Use the session id from the command line until the agent reports one itself."""
        session = self._tracker.get_session(agent_process.id)
        if session is None or session.external_id:
            return
        if name := self._registry.find_resumed_session(agent_process.agent, process):
            key = f"argv {agent_process.pid}@{agent_process.pid_started}"
            note = _build_note(agent_process, ARGV_SOURCE, self._clock.now(), key)
            self._tracker.submit_facts([replace(note, session=name)])

    def _adopt_version(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        """Use the version of the program's files until the agent reports one itself."""
        if process.version and not self._tracker.get_version(agent_process.id):
            key = f"version {agent_process.pid}@{agent_process.pid_started}"
            note = _build_note(agent_process, ARGV_SOURCE, self._clock.now(), key)
            self._tracker.submit_facts([replace(note, payload={"version": process.version})])

    def leave(self, agent_process: AgentProcess) -> None:
        if self._watches_by_agent.pop(agent_process.id, None) and self.path_watcher is not None:
            self.path_watcher.unwatch(agent_process.id)
        self._last_titles.pop(agent_process.id, None)

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
        signals = self._registry.read_record(agent_process.agent, record)
        # A title that the adapter does not interpret is still the pane's title.
        if not signals and source == "title":
            signals = [replace(_build_note(agent_process, source, at, record.event_id), title=text)]
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


def _build_note(agent_process: AgentProcess, source: str, at: int, key: str) -> Signal:
    return Signal(
        source=source,
        tier="heuristic",
        agent=agent_process.agent,
        runtime=agent_process.id,
        event_at=at,
        ingested_at=at,
        dedupe_key=key,
        kind="note",
    )


class _HookHeader(Struct):
    agent: str


def find_record_owner(
    record: SourceRecord,
    agents_with_source: Sequence[str],
    watched: Iterable[tuple[str, WatchedPath]],
    agent_processes: Iterable[AgentProcess],
) -> str:
    """Return the agent that the hook names, that watches the file or whose process it is; empty if unknown."""
    if record.source == HOOK_SOURCE:
        return _parse_hook_agent(record.text)
    if len(agents_with_source) == 1:
        return agents_with_source[0]
    agents = {
        agent
        for agent, watch in watched
        if record.source == watch.source and record.path.startswith(f"{watch.folder.rstrip('/')}/")
    }
    if not agents and record.hint.pid:
        agents = {process.agent for process in agent_processes if process.pid == record.hint.pid}
    owners = agents.intersection(agents_with_source)
    return owners.pop() if len(owners) == 1 else ""


def _parse_hook_agent(text: str) -> str:
    try:
        return msgspec.json.decode(text, type=_HookHeader).agent
    except msgspec.DecodeError:
        # A line that no hook of ours wrote: it is counted as a record without an adapter.
        return ""
