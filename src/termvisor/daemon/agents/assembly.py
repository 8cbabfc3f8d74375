"""Build and connect agent tracking: discovery, signal sources, screen sampling and state."""

import asyncio
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.description_files import DESCRIPTIONS, get_user_folder, list_changed_descriptions
from termvisor.agents.adapters.screen_classifier import ScreenRuleProvider
from termvisor.agents.sources.agent_servers import AgentServers
from termvisor.agents.sources.hook_spool import HookSpool, SpoolPosition
from termvisor.agents.sources.process_scanner import PaneProcessScanner, UnwatchedAgentFinder
from termvisor.agents.sources.read_positions import ReadPositions
from termvisor.agents.sources.source_watcher import ReadPositionsFactory, SourceWatcher
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_discovery import AgentDiscovery, PaneInfo
from termvisor.agents.tracking.agent_screens import AgentScreenReader
from termvisor.agents.tracking.printed_json import PrintedJsonReader
from termvisor.agents.tracking.remote_agents import RemoteAgentDetector, is_carrier
from termvisor.agents.tracking.signal_reader import SignalReader
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.agents.tracking.transcript_recorder import TranscriptRecorder
from termvisor.agents.tracking.transition import build_tracking_config
from termvisor.capture.event_log import EventLog
from termvisor.capture.pane_registry import KnownPane
from termvisor.capture.server_supervisor import ServerSupervisor
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.clock import Clock
from termvisor.detection.packs.loader import list_screen_rules, load_cached_packs
from termvisor.detection.packs.rule_match import find_banner_version
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.agent.signal import ReadPosition
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.maintenance import DescriptionsReloadResult
from termvisor.model.terminal.target import LOCAL
from termvisor.pipeline import Pipeline
from termvisor.settings import Paths, Settings
from termvisor.store import Store
from termvisor.system.process_lifetime import ProcessExitWatcher
from termvisor.system.tty import is_printing_in_pane


class AgentTracking(Struct):
    adapter_registry: AdapterRegistry
    tracker: AgentTracker
    signal_reader: SignalReader
    printed_json: PrintedJsonReader
    discovery: AgentDiscovery
    agent_screens: AgentScreenReader
    source_watcher: SourceWatcher
    servers: AgentServers
    transcript_recorder: TranscriptRecorder
    processes: PaneProcessScanner

    def apply_settings(self, settings: Settings) -> None:
        """Apply changed settings without losing the tracked state."""
        self.tracker.config = replace(
            build_tracking_config(self.adapter_registry, settings), find_rule=self.tracker.config.find_rule
        )
        self.transcript_recorder.is_enabled = settings.agent_transcripts

    def reload_descriptions(self, paths: Paths, settings: Settings) -> DescriptionsReloadResult:
        """Read the files that describe agents again."""
        before = DESCRIPTIONS.agents
        DESCRIPTIONS.use_folder(get_user_folder(paths.config_dir))
        self.adapter_registry.reload()
        self.apply_settings(settings)
        after = DESCRIPTIONS.agents
        troubles = tuple(str(problem) for problem in after.problems)
        return DescriptionsReloadResult(changed=list_changed_descriptions(before, after), troubles=troubles)

    def reload_screen_rules(self, paths: Paths, settings: Settings) -> None:
        """Reload the rules that classify agents' screens from disk."""
        self.adapter_registry.use_rules(build_screen_rules(paths, settings))


def build_screen_rules(paths: Paths, settings: Settings) -> ScreenRuleProvider:
    """Return a function that loads the active screen rules of an agent, including the user's own."""
    return lambda agent: list_screen_rules(load_cached_packs(paths.config_dir, settings, paths.cache_dir), agent)


async def build_agent_tracking(
    store: Store, event_log: EventLog, clock: Clock, paths: Paths, settings: Settings
) -> AgentTracking:
    """Build agent tracking and restore the state of the earlier daemon, without starting any task."""
    programs, rules = settings.agent_programs.values(), build_screen_rules(paths, settings)
    DESCRIPTIONS.use_folder(get_user_folder(paths.config_dir))
    registry = AdapterRegistry(lambda: loader.load_adapters(settings.agents_disabled, programs, rules))
    tracker = AgentTracker(store, event_log.events, clock, build_tracking_config(registry, settings))
    await tracker.restore()
    publish_event, is_enabled = event_log.events.publish, settings.agent_transcripts
    transcripts = TranscriptRecorder(
        tracker, registry, store.transcripts, is_enabled=is_enabled, publish_event=publish_event
    )
    unwatched_agents = UnwatchedAgentFinder(registry.find_process, clock, lambda: registry.env_names)
    signal_reader = SignalReader(
        tracker,
        registry,
        clock,
        record_transcripts=transcripts.record_messages,
        count_agents=unwatched_agents.count_in_folder,
    )
    source_watcher = signal_reader.path_watcher = _build_source_watcher(paths, tracker, signal_reader, clock)
    processes = PaneProcessScanner(registry.env_names)
    return AgentTracking(
        adapter_registry=registry,
        tracker=tracker,
        signal_reader=signal_reader,
        printed_json=PrintedJsonReader(tracker, registry, clock),
        discovery=AgentDiscovery(tracker, registry, processes, clock),
        agent_screens=AgentScreenReader(tracker, registry, RemoteAgentDetector(tracker, registry, clock)),
        source_watcher=source_watcher,
        servers=AgentServers(
            signal_reader.read_records,
            clock,
            lambda name: loader.load_server_provider(registry.adapters.get(name)),
            unwatched_agents,
        ),
        transcript_recorder=transcripts,
        processes=processes,
    )


def _build_source_watcher(
    paths: Paths, tracker: AgentTracker, signal_reader: SignalReader, clock: Clock
) -> SourceWatcher:
    """Build a watcher of agents' files and the hook spool that continues from the last stored positions."""
    spool = HookSpool(paths.spool_dir, SpoolPosition(*tracker.source_positions.get("hook", (0, 0))), clock)
    positions = build_read_positions(tracker)
    return SourceWatcher(signal_reader.read_records, clock, spool, open_read_positions=positions)


def build_read_positions(tracker: AgentTracker) -> ReadPositionsFactory:
    """Return a factory of read positions. Each is stored in one transaction with the facts read up to it."""

    def store_position(position: ReadPosition) -> bool:
        return tracker.submit_facts((), position=position)

    return lambda key, watch: ReadPositions(key, watch, tracker.take_read_position(key, watch), store_position)


def connect_capture(tracking: AgentTracking, pipeline: Pipeline, supervisor: ServerSupervisor) -> None:
    """Connect agent tracking to the pipeline and the watched servers, in both directions."""

    def find_last_output(pane: PaneId) -> int | None:
        meter = pipeline.rate_meters.get(pane)
        return meter.last_at if meter is not None else None

    def has_terminal(agent_process: AgentProcess) -> bool | None:
        pane = find_pane_info(supervisor, agent_process.pane)
        return pane is not None and is_printing_in_pane(agent_process.pid, agent_process.pid_started, pane.pid)

    def has_restored_terminal(pane: PaneId) -> bool:
        # Every agent with a screen of its own switches bracketed paste on while it runs.
        reader = pipeline.current_readers.get(pane)
        return reader is not None and reader.shells.activity_state.place.is_paste_on is False

    tracking.agent_screens.get_moved_at = find_last_output
    tracking.printed_json.has_terminal = has_terminal
    tracking.agent_screens.get_seen_secrets = pipeline.get_secrets
    tracking.agent_screens.find_banner_version = lambda agent, rows: find_banner_version(
        pipeline.matcher.rules.values(), agent, rows
    )
    tracking.agent_screens.get_pane_info = lambda pane: find_pane_info(supervisor, pane)
    tracking.agent_screens.list_carrier_panes = lambda: list_pane_infos(supervisor, is_carrier)
    tracking.discovery.list_panes = lambda: list_pane_infos(supervisor)
    tracking.processes.get_root_pids = lambda: {pane.facts.pid for pane in list_known_panes(supervisor)}
    pipeline.on_status_marks = tracking.signal_reader.read_marks
    pipeline.on_json_lines = tracking.printed_json.read_lines
    tracking.discovery.flush_output = pipeline.read_pane_now
    tracking.discovery.has_unread_end = tracking.printed_json.has_unread_end
    tracking.discovery.has_restored_terminal = has_restored_terminal
    pipeline.matcher.find_presences = tracking.tracker.list_presences
    tracking.transcript_recorder.find_detections = pipeline.matcher.detect_in_message
    tracking.tracker.config = replace(tracking.tracker.config, find_rule=pipeline.matcher.find_rule)
    tracking.tracker.on_agent_arrived = pipeline.retry_pending_matches


async def run_agent_tracking(tracking: AgentTracking, store: Store, pipeline: Pipeline, event_log: EventLog) -> None:
    """Discover and follow agents until cancelled; the tracker itself keeps running until its `stop` is called."""
    discovery = tracking.discovery
    discovery.followers = (tracking.signal_reader, tracking.printed_json, tracking.servers)
    exit_watcher = discovery.exit_watcher = ProcessExitWatcher(discovery.handle_process_exit)
    try:
        with pipeline.changed_panes.subscribe() as output, event_log.events.subscribe() as events:
            async with asyncio.TaskGroup() as group:
                group.create_task(tracking.source_watcher.run())
                group.create_task(tracking.servers.run())
                group.create_task(discovery.follow_pane_events(events))
                await discovery.end_agents_of_gone_panes([pane.id for pane in await store.panes.list_panes()])
                group.create_task(discovery.run(output))
    finally:
        exit_watcher.close()


def list_pane_infos(
    supervisor: ServerSupervisor, is_wanted: Callable[[str], bool] = lambda command: True
) -> Iterator[PaneInfo]:
    """Return the panes, or those whose command is wanted."""
    found = [
        (watcher, mux_id)
        for watcher in supervisor.watchers.values()
        # Agents are recognized by their processes.
        if watcher.has_started and watcher.transport.target.kind == LOCAL.kind
        for mux_id, pane in watcher.known_panes.items()
        if is_wanted(pane.facts.command)
    ]
    # Not read without need: two calls a second would cost more than the panes that are wanted.
    client_terminals = list_client_terminals(supervisor) if found else frozenset()
    return (_build_pane_info(watcher, mux_id, client_terminals) for watcher, mux_id in found)


def list_known_panes(supervisor: ServerSupervisor) -> Iterator[KnownPane]:
    for watcher in supervisor.watchers.values():
        yield from watcher.known_panes.values()


def list_client_terminals(supervisor: ServerSupervisor) -> frozenset[str]:
    """Return the terminals of all attached clients; a watched pane may be one of them (nested tmux)."""
    return frozenset(name for pane in list_known_panes(supervisor) for name in pane.facts.session_clients)


def find_pane_info(supervisor: ServerSupervisor, pane: PaneId) -> PaneInfo | None:
    location = supervisor.locate_pane(pane)
    if location is None or location[0].transport.target.kind != LOCAL.kind:
        return None
    return _build_pane_info(*location, list_client_terminals(supervisor))


def _build_pane_info(watcher: ServerWatcher, mux_id: MuxPaneId, client_terminals: frozenset[str]) -> PaneInfo:
    server, pane = watcher.server.instance, watcher.known_panes[mux_id]
    place, facts = PaneLocation(server.target, server.socket, mux_id), pane.facts
    return PaneInfo(
        pane=pane.id,
        pid=facts.pid,
        command=facts.command,
        title=facts.title,
        tty=facts.tty,
        place=place,
        shows_watched_panes=facts.tty in client_terminals,
    )
