"""What attends to agents, joined: who is there, what they say, what that means."""

import asyncio
from collections.abc import Hashable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from termvisor import agents
from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.screen_classifier import ScreenRuleProvider
from termvisor.agents.sources.hook_spool import HookSpool, SpoolPosition
from termvisor.agents.sources.pane_processes import PaneProcessScanner
from termvisor.agents.sources.read_positions import ReadPositions
from termvisor.agents.sources.source_watcher import ReadPositionsFactory, SourceWatcher
from termvisor.agents.sources.unwatched_agents import UnwatchedAgentFinder
from termvisor.agents.state.thresholds import Thresholds
from termvisor.agents.tracking import (
    AdapterRegistry,
    AgentDiscovery,
    AgentScreenSampler,
    AgentTracker,
    PaneInfo,
    PrintedJsonReader,
    RemoteAgentDetector,
    SignalReader,
    TrackingConfig,
)
from termvisor.agents.tracking.transcript_recorder import TranscriptRecorder
from termvisor.capture.event_log import EventLog
from termvisor.capture.screen_sampler import PaneLocator as PaneAt
from termvisor.capture.screen_sampler import SampleSink, ScreenSample
from termvisor.capture.server_supervisor import ServerSupervisor
from termvisor.capture.server_watcher import KnownPane, ServerWatcher
from termvisor.clock import NS, Clock
from termvisor.daemon.agents.agent_servers import AgentServers
from termvisor.detection.packs.cache import load_cached_packs
from termvisor.detection.packs.screen_rules import list_screen_rules
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.agent.read_position import ReadPosition
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.pipeline import Pipeline, SightingRecorder
from termvisor.settings import Paths, Settings
from termvisor.store import Store
from termvisor.system.foreground_process import is_printing_in_pane
from termvisor.system.process_exit import ProcessExitWatcher


class AgentTracking(Struct):
    adapter_registry: AdapterRegistry
    tracker: AgentTracker
    signal_reader: SignalReader
    printed_json: PrintedJsonReader
    discovery: AgentDiscovery
    screen_sampler: AgentScreenSampler
    source_watcher: SourceWatcher
    servers: AgentServers
    transcript_recorder: TranscriptRecorder
    processes: PaneProcessScanner

    def apply_settings(self, settings: Settings) -> None:
        """From now on these settings hold."""
        self.tracker.config = replace(
            build_tracking_config(self.adapter_registry, settings), rules=self.tracker.config.rules
        )
        self.transcript_recorder.is_enabled = settings.agent_transcripts

    def reload_screen_rules(self, paths: Paths, settings: Settings) -> None:
        """From now on agents' screens are read by the rules that these settings put in force."""
        self.adapter_registry.use_rules(build_screen_rules(paths, settings))


class AgentFollowers:
    """Whoever must know of every agent that lives: those who read its files or servers, and who waits for its end."""

    def __init__(self, tracking: AgentTracking):
        self._tracking, self._exit_watcher = tracking, ProcessExitWatcher(tracking.discovery.handle_process_exit)

    def follow(self, runtime: AgentProcess, process: ProcessInfo) -> None:
        self._tracking.signal_reader.follow(runtime, process)
        self._tracking.printed_json.follow(runtime, process)
        self._tracking.servers.follow(runtime, process)

    def leave(self, runtime: AgentProcess) -> None:
        self._tracking.signal_reader.leave(runtime)
        self._tracking.printed_json.leave(runtime)
        self._tracking.servers.leave(runtime)
        self._exit_watcher.unwatch_process(runtime.pid, runtime.pid_started)

    def watch_end(self, pid: int, started: int) -> bool:
        return self._exit_watcher.watch_process(pid, started)

    def close(self) -> None:
        self._exit_watcher.close()


def build_tracking_config(adapter_registry: AdapterRegistry, settings: Settings) -> TrackingConfig:
    measure = Thresholds(
        sources=adapter_registry.sources,
        completed_for=int(settings.agent_completed_for * NS),
        contradicted_after=int(settings.agent_contradicted_after * NS),
        idle_after=int(settings.agent_idle_after * NS),
    )
    return TrackingConfig(thresholds=measure, build_resume_command=adapter_registry.build_resume_command)


def build_screen_rules(paths: Paths, settings: Settings) -> ScreenRuleProvider:
    """The rules for agents' screens that are in force here, a person's own among them."""
    return lambda agent: list_screen_rules(load_cached_packs(paths.config_dir, settings, paths.cache_dir), agent)


async def build_agent_tracking(
    store: Store, event_log: EventLog, clock: Clock, paths: Paths, settings: Settings
) -> AgentTracking:
    """All of it, at rest; what an earlier daemon knew is known."""
    circle = AdapterRegistry(
        lambda: agents.load_adapters(
            settings.agents_disabled, settings.agent_programs, build_screen_rules(paths, settings)
        )
    )
    knowing = AgentTracker(store, event_log.events, clock, build_tracking_config(circle, settings))
    await knowing.restore()
    hearing = SignalReader(knowing, circle, clock)
    scribe = TranscriptRecorder(knowing, circle, store.transcripts)
    scribe.is_enabled, hearing.record_transcripts = settings.agent_transcripts, scribe.record_messages
    scribe.publish_event = event_log.events.publish
    spool = HookSpool(paths.spool_dir, SpoolPosition(*knowing.source_positions.get("hook", (0, 0))), clock)
    listening = SourceWatcher(hearing.read_records, clock, spool)
    hearing.path_watcher = listening
    listening.open_read_positions = build_read_positions(knowing)
    processes = PaneProcessScanner(circle.env_names)
    recognition = AgentDiscovery(knowing, circle, processes, clock)
    gaze = AgentScreenSampler(knowing, hearing, RemoteAgentDetector(knowing, circle, clock), clock)
    elsewhere = UnwatchedAgentFinder(circle.find_process, clock, lambda: circle.env_names)
    hearing.count_agents = elsewhere.count_in_folder
    servers = AgentServers(
        hearing.read_records, clock, lambda name: agents.load_server_provider(circle.adapters.get(name)), elsewhere
    )
    printing = PrintedJsonReader(knowing, circle, clock)
    return AgentTracking(circle, knowing, hearing, printing, recognition, gaze, listening, servers, scribe, processes)


def build_read_positions(tracker: AgentTracker) -> ReadPositionsFactory:
    """How far agents' files are read is kept with what was read in them."""

    def store_position(bookmark: ReadPosition) -> bool:
        return tracker.submit_facts((), position=bookmark)

    def find_position(key: Hashable, place: str) -> ReadPositions | None:
        runtime = RuntimeId(key) if isinstance(key, int) else None
        return (
            ReadPositions(runtime, place, tracker.take_read_position(runtime, place), store_position)
            if runtime is not None
            else None
        )

    return find_position


def connect_capture(
    tracking: AgentTracking, pipeline: Pipeline, supervisor: ServerSupervisor, find_pane: PaneAt
) -> None:
    """Join it to the watching side."""

    def find_last_output(pane: PaneId) -> int | None:
        meter = pipeline.rate_meters.get(pane)
        return meter.last_at if meter is not None else None

    def has_terminal(agent_process: AgentProcess) -> bool | None:
        standing = find_pane_info(supervisor, agent_process.pane)
        return standing is not None and is_printing_in_pane(agent_process.pid, agent_process.pid_started, standing.pid)

    tracking.signal_reader.get_moved_at = find_last_output
    tracking.printed_json.has_terminal = has_terminal
    tracking.screen_sampler.locate_pane, tracking.screen_sampler.get_seen_secrets = find_pane, pipeline.get_secrets
    tracking.screen_sampler.get_pane_info = lambda pane: find_pane_info(supervisor, pane)
    tracking.discovery.list_panes = lambda: list_pane_infos(supervisor)
    tracking.processes.get_root_pids = lambda: {known.facts.pid for _, known in list_known_panes(supervisor)}
    pipeline.on_status_marks = tracking.signal_reader.read_marks
    pipeline.on_json_lines = tracking.printed_json.read_lines
    tracking.discovery.flush_output = pipeline.read_pane_now
    pipeline.matcher.find_presences = tracking.tracker.list_presences
    tracking.transcript_recorder.find_detections = pipeline.matcher.detect_in_message
    tracking.tracker.config = replace(tracking.tracker.config, rules=pipeline.matcher.find_rule)
    tracking.tracker.on_agent_arrived = pipeline.retry_pending_matches


def build_screen_consumer(screen_sampler: AgentScreenSampler, sightings: SightingRecorder) -> SampleSink:
    """Every look is taken twice: for what it says of an agent, and for the rows in it."""

    async def consume_screens(looks: list[ScreenSample]) -> None:
        screen_sampler.add_captures(looks)
        await sightings.store_samples(looks)

    return consume_screens


async def run_agent_tracking(tracking: AgentTracking, store: Store, pipeline: Pipeline, event_log: EventLog) -> None:
    """Until it is cancelled. Whoever knows goes on a little longer: see `Knowing.end`."""
    recognition = tracking.discovery
    company = recognition.follower = AgentFollowers(tracking)
    try:
        with pipeline.changed_panes.subscribe() as output, event_log.events.subscribe() as events:
            async with asyncio.TaskGroup() as group:
                group.create_task(tracking.source_watcher.run())
                group.create_task(tracking.servers.run())
                group.create_task(tracking.screen_sampler.run())
                group.create_task(recognition.follow_pane_events(events))
                await recognition.end_agents_of_gone_panes([pane.id for pane in await store.panes.list_panes()])
                group.create_task(recognition.run(output))
    finally:
        company.close()


def list_pane_infos(supervisor: ServerSupervisor) -> Iterator[PaneInfo]:
    shown = list_client_terminals(supervisor)
    for watch in supervisor.watchers.values():
        if watch.has_started:
            yield from (_build_pane_info(watch, mux_id, shown) for mux_id in watch.known_panes)


def list_known_panes(supervisor: ServerSupervisor) -> Iterator[tuple[ServerWatcher, KnownPane]]:
    for watch in supervisor.watchers.values():
        yield from ((watch, known) for known in watch.known_panes.values())


def list_client_terminals(supervisor: ServerSupervisor) -> frozenset[str]:
    """In which sessions of any server are shown; a pane's own may be one of them."""
    return frozenset(name for _, known in list_known_panes(supervisor) for name in known.facts.session_clients)


def find_pane_info(supervisor: ServerSupervisor, pane: PaneId) -> PaneInfo | None:
    found = supervisor.locate_pane(pane)
    return None if found is None else _build_pane_info(*found, list_client_terminals(supervisor))


def _build_pane_info(watcher: ServerWatcher, mux_id: MuxPaneId, client_terminals: frozenset[str]) -> PaneInfo:
    server, known = watcher.server.instance, watcher.known_panes[mux_id]
    place, facts = PaneLocation(server.target, server.socket, mux_id), known.facts
    return PaneInfo(
        pane=known.id,
        pid=facts.pid,
        command=facts.command,
        title=facts.title,
        place=place,
        shows_ours=facts.tty in client_terminals,
    )
