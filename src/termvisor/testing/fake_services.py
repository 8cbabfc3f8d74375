"""The daemon's services on a store in memory and a fake tmux server, for tests of operations.

Methods such as `add_pane`, `print_lines` and `remove_pane` store what capture would. The gate, agents, workflows
and maintenance, which need a running daemon, are fakes.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, cast
from zlib import crc32

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.backend import BackendDependencies
from termvisor.backends.pane_source import PaneCapture
from termvisor.backends.registry import build_backends
from termvisor.capture.event_log import EventLog
from termvisor.capture.pane_registry import KnownPane
from termvisor.clock import NS, Clock
from termvisor.daemon.components import Components
from termvisor.daemon.jobs.job_service import JobService
from termvisor.daemon.services.accounts import AccountService
from termvisor.daemon.services.detections import DetectionService
from termvisor.daemon.services.history import HistoryService, RecordingService
from termvisor.daemon.services.panes import PaneService
from termvisor.daemon.services.updates import LiveUpdates
from termvisor.model.action.action import Actor, CallerFace
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EpochId, MuxPaneId, PaneId, ScreenId, TargetName
from termvisor.model.terminal.command import CommandBoundary, CommandUpdate, ShellCommand
from termvisor.model.terminal.output import Delta, Gap, GapCause, TextBlock
from termvisor.model.terminal.pane import (
    CaptureChannel,
    PaneActivity,
    PaneFacts,
    PaneInstance,
    PaneView,
    ServerInstance,
)
from termvisor.model.terminal.screen import CapturedScreen, ReplayFrame, Screen, ScreenRow
from termvisor.model.terminal.target import ServerKey
from termvisor.ops.api.services import Services
from termvisor.pipeline import Pipeline, SightingRecorder
from termvisor.protocol.unix_socket import PeerProcess
from termvisor.redaction import SeenSecrets
from termvisor.settings import Paths, Settings
from termvisor.store import Store
from termvisor.store.tables.output import EpochUpdate
from termvisor.testing.fake_agents import FakeAgents
from termvisor.testing.fake_clock import FakeClock
from termvisor.testing.fake_gate import FakeGate
from termvisor.testing.fake_maintenance import FakeMaintenance
from termvisor.testing.fake_workflows import FakeWorkflows
from termvisor.testing.memory_store import open_memory_store, run_now

TEST_NONCE = "5eed5eed"
"""The nonce that authenticates user variables in tests."""

SERVER = ServerInstance(TargetName("local"), "/run/tmux/default", 100, 1)


class FakeCallers:
    """Takes every caller of the command line for a person, because the test's own process is none."""

    async def identify(self, face: CallerFace, peer: PeerProcess) -> Actor:
        return Actor(kind="human" if face in ("cli", "tui") else "robot", uid=peer.uid, pid=peer.pid, face=face)


class FakeServices(Services):
    """``screens`` are the visible screens of the fake tmux server, by pane."""

    clock: FakeClock
    agents: FakeAgents
    gate: FakeGate
    maintenance: FakeMaintenance
    workflows: FakeWorkflows

    def __init__(self, paths: Paths | None = None, settings: Settings | None = None):
        self.clock = FakeClock()
        self.paths = paths or Paths("/home/me/.config/termvisor", "/home/me/.local/share/termvisor", "/run/visor")
        self.get_settings = lambda: self.components.settings
        self.store = open_memory_store(self.clock)
        self.pipeline = FakePipeline(self.store, self.clock, self.paths.raw_dir)
        self.screens: dict[PaneId, Screen] = {}
        self._tmux = _FakeSupervisor(self.screens, self.paths)
        self.event_log = EventLog(self.store.events, self.clock)
        self.components = self._build_components(settings or Settings())
        self.panes = PaneService(self.components)
        self.history = HistoryService(self.components)
        self.recording = self.history.recording = FakeRecording(self.components)
        self.updates = LiveUpdates(self.components)
        self.detections = DetectionService(self.components)
        self.agents = FakeAgents(self.clock, self.store_event)
        self.gate = FakeGate(self.store, self.clock, f"{self.paths.config_dir}/policy.toml")
        self.maintenance = FakeMaintenance(self)
        self.workflows = FakeWorkflows(self.store, self.clock)
        self.accounts = AccountService(self.components, lambda action: self.gate.run(action, Preconditions()))
        self.jobs = self.components.jobs = JobService(self.components, cast(Any, None))
        self.callers = FakeCallers()
        self._epochs: dict[PaneId, EpochId] = {}
        self._running_commands: dict[PaneId, CommandUpdate] = {}

    def _build_components(self, settings: Settings) -> Components:
        # Parts that no service uses in these tests. Any use fails at once.
        absent = cast(Any, None)
        return Components(
            store=self.store,
            pipeline=self.pipeline,
            event_log=self.event_log,
            server_supervisor=cast(Any, self._tmux),
            clock=self.clock,
            paths=self.paths,
            settings=settings,
            recorder=absent,
            screen_sampler=absent,
            sightings=SightingRecorder(self.store, cast(Any, self.pipeline), self.clock),
            write_retry=absent,
            agent_tracking=absent,
            active_rules=absent,
            retention_clock=absent,
        )

    def bind_caller(self, actor: Actor, cause: str = "") -> "FakeServices":
        self.gate.actor = actor
        return self

    @property
    def settings(self) -> Settings:
        return self.components.settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self.components.settings = settings

    @property
    def views(self) -> list[PaneView]:
        """All panes, including closed ones."""
        return run_now(self.panes.list_panes(include_gone=True))

    def run_sql(self, statement: str, *values: object) -> list[Any]:
        """Run SQL for changes that no store method makes, such as damage or retention."""
        return run_now(self.store._db.write(lambda connection: connection.execute(statement, values).fetchall()))

    def add_pane(self, facts: PaneFacts, *, server: ServerInstance = SERVER) -> PaneView:
        """Simulate a new pane."""
        # tmux reuses pane ids after a restart. The store distinguishes such panes by generation.
        twins = sum(view.instance.mux_id == facts.mux_id and view.instance.server == server for view in self.views)
        instance = PaneInstance(server, facts.mux_id, twins)
        pane, _ = run_now(self.store.panes.find_or_add(instance, facts, self.clock.now()))
        # Every line belongs to an epoch, so a pane is captured from its start.
        self._epochs[pane] = run_now(self.store.output.open_epoch(pane, "pipe", self.clock.now()))
        self.pipeline.stream_states[pane] = StreamState()
        self._tmux.add_pane(server, KnownPane(pane, facts))
        return self._get_view(pane)

    def _get_view(self, pane: PaneId) -> PaneView:
        view = run_now(self.panes.find_pane(pane))
        assert view is not None  # noqa: S101
        return view

    def change_pane(
        self, pane: PaneId, *, activity: PaneActivity | None = None, facts: PaneFacts | None = None
    ) -> PaneView:
        """Change a pane's stream state, or the facts that tmux reports about it."""
        if activity is not None:
            self.pipeline.stream_states[pane].activity = activity
        if facts is not None:
            run_now(self.store.panes.update(pane, facts, self.clock.now()))
        return self._get_view(pane)

    def remove_pane(self, pane: PaneId) -> None:
        """Simulate the end of a pane."""
        run_now(self.store.panes.mark_gone(pane, self.clock.now()))
        self._tmux.remove_pane(pane)
        self.add_event("pane_gone", pane)

    def print_lines(self, pane: PaneId, *texts: str) -> None:
        """Simulate complete lines of output."""
        now, epoch = self.clock.now(), self._epochs[pane]
        # One block per line, so that a test can delete any number of lines.
        blocks = (TextBlock(epoch=epoch, start=0, end=0, at=now, until=now, lines=(text,)) for text in texts)
        self._commit(pane, blocks=tuple(blocks))
        self._note_output(pane)

    def print_partial_line(self, pane: PaneId, text: str) -> None:
        """Simulate an unfinished line of output."""
        self.pipeline.stream_states[pane].pending_line = text
        self._note_output(pane)

    def print_bytes(self, pane: PaneId, data: bytes, epoch: int = 1) -> None:
        deltas = self.recording.raw_deltas
        start = sum(len(delta.data) for owner, delta in deltas if (owner, delta.epoch) == (pane, epoch))
        deltas.append((pane, Delta(EpochId(epoch), start, data, self.clock.now())))

    def show_screen(self, pane: PaneId, *rows: str, input_row: int | None = None) -> Screen:
        """Simulate a repaint whose screen is stored, without the input row. At least one row must be new."""
        screen = Screen(pane=pane, rows=(), width=80, height=len(rows), alternate=True, at=self.clock.now())
        # Equal rows of an epoch are stored once. They are recognized by their fold, here a checksum.
        folded_rows = tuple(
            ScreenRow(row, crc32(row.encode()), "input" if number == input_row else "sighting")
            for number, row in enumerate(rows)
        )
        capture = CapturedScreen(self._epochs[pane], screen, folded_rows)
        (stored,) = run_now(self.store.sightings.add([capture]))
        self._note_output(pane)
        return replace(screen, rows=rows, id=stored.screen or ScreenId(0))

    def start_command(self, pane: PaneId, line: str | None) -> ShellCommand:
        """Simulate a shell that echoes a command line and runs it."""
        self.print_lines(pane, f"$ {line}")
        now = self.clock.now()
        self.change_pane(pane, activity=PaneActivity(kind="command", since=now, command_line=line, is_proven=True))
        # Commands of an epoch are distinguished by their start offset.
        number = self.run_sql("SELECT count(*) + 1 FROM command")[0][0]
        command = CommandUpdate(start=100 * number, started_at=now, line=line, cwd="/home/me/project", is_proven=True)
        return self._store_command(pane, command)

    def finish_command(self, pane: PaneId, exit_code: int | None = 0) -> ShellCommand:
        """Simulate the end of the running command. None means an unknown exit status."""
        now = self.clock.now()
        self.change_pane(pane, activity=PaneActivity(kind="prompt", since=now, last_exit=exit_code, is_proven=True))
        command = self._running_commands[pane]
        ended = replace(command, end=command.start + 50, status="lost")
        if exit_code is not None:
            ended = replace(ended, ended_at=now, exit_code=exit_code, status="finished")
        stored = self._store_command(pane, ended)
        self._note_output(pane)
        return stored

    def _store_command(self, pane: PaneId, command: CommandUpdate) -> ShellCommand:
        self._running_commands[pane] = command
        boundary = CommandBoundary(command.start, command.start, is_end=command.end is not None)
        self._commit(pane, commands=(command,), edges=((boundary, 0),))
        stored = run_now(self.store.commands.find(pane, "last"))
        assert stored is not None  # noqa: S101
        return stored

    def _commit(self, pane: PaneId, **output: Any) -> None:
        run_now(self.store.output.commit([EpochUpdate(pane=pane, epoch=self._epochs[pane], committed=0, **output)]))

    def _note_output(self, pane: PaneId) -> None:
        # Publish after storing, as in the pipeline, because a subscriber reads the store at once.
        self.pipeline.stream_states[pane].last_at = self.clock.now()
        self.pipeline.changed_panes.publish(pane)

    def add_gap(self, pane: PaneId, cause: GapCause, seconds: float | None) -> Gap:
        """Simulate output that was not captured."""
        start = self.clock.now()
        end = None if seconds is None else start + int(seconds * NS)
        gap = run_now(self.store.output.record_gap(Gap(pane=pane, cause=cause, start_at=start, end_at=end)))
        self.add_event("gap_recorded", pane, cause=cause)
        return gap

    def add_event(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> Event:
        return self.store_event(Event(at=self.clock.now(), kind=kind, pane=pane, data=data))

    def store_event(self, event: Event) -> Event:
        return run_now(self.event_log.append(event))

    def add_detection(self, detection: Detection) -> Detection:
        """Simulate the match of a rule."""
        (event,) = run_now(self.store.detections.add([detection]))
        self.event_log.events.publish(event)
        stored = run_now(self.store.detections.find(event.id))
        assert stored is not None  # noqa: S101
        return stored


class StreamState(Struct):
    """The pipeline's state of a pane's stream: reader and rate meter in one object."""

    pending_line: str = ""
    activity: PaneActivity = PaneActivity()
    last_at: int | None = None
    bytes_per_second: float = 0.0
    read_offset: int = 0
    stored_offset: int = 0

    @property
    def shells(self) -> "StreamState":
        return self

    @property
    def activity_state(self) -> "StreamState":
        return self

    def compute_rate(self, now: float) -> float:
        return self.bytes_per_second

    def refresh_secrets(self) -> SeenSecrets:
        return SeenSecrets()


class FakePipeline(Pipeline):
    """A pipeline that reads nothing. Tests set the state of each stream. ``settle_count`` counts the waits."""

    def __init__(self, store: Store, clock: Clock, raw_dir: str):
        super().__init__(store.output, raw_dir=raw_dir, clock=clock, flush_interval=0.0, nonce=TEST_NONCE)
        self.settle_count = 0
        self.stream_states: dict[PaneId, StreamState] = {}
        self.current_readers = self.rate_meters = cast(Any, self.stream_states)

    async def wait_settled(self, pane: PaneId | None = None, *, leaves_slow: bool = False) -> None:
        self.settle_count += 1


class _FakeSupervisor:
    """Watches fake tmux servers, one per socket."""

    def __init__(self, screens: dict[PaneId, Screen], paths: Paths):
        self._screens = screens
        self.backends = build_backends(BackendDependencies(paths=paths, get_settings=Settings))
        self.watchers: dict[ServerKey, _FakeWatcher] = {}
        self.first_scan_done = self

    async def wait(self) -> None:
        """Return at once: the first scan is always done."""

    async def refresh_panes(self) -> None:
        """Do nothing: changes are stored at once."""

    def add_pane(self, server: ServerInstance, pane: KnownPane) -> None:
        watcher = self.watchers.setdefault(server.key, _FakeWatcher(server, self._screens))
        watcher.known_panes[pane.facts.mux_id] = pane

    def remove_pane(self, pane: PaneId) -> None:
        if (location := self.locate_pane(pane)) is not None:
            del location[0].known_panes[location[1]]

    def locate_pane(self, pane: PaneId) -> "tuple[_FakeWatcher, MuxPaneId] | None":
        for watcher in self.watchers.values():
            for mux_id, known in watcher.known_panes.items():
                if known.id == pane:
                    return watcher, mux_id
        return None


class _FakeWatcher:
    """A watcher and its tmux server in one object."""

    def __init__(self, instance: ServerInstance, screens: dict[PaneId, Screen]):
        self.server, self.instance, self._screens = self, instance, screens
        self.known_panes: dict[MuxPaneId, KnownPane] = {}

    def describe_capture(self, mux_id: MuxPaneId) -> tuple[CaptureChannel, GapCause | None]:
        return "pipe", None

    async def capture_pane(self, mux_id: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        pane = self.known_panes[mux_id].id
        screen = self._screens.get(pane) or Screen(pane=pane, rows=("",), width=80, height=24)
        fields = ("rows", "width", "height", "cursor_x", "cursor_y", "alternate")
        return PaneCapture(**{name: getattr(screen, name) for name in fields})


class FakeRecording(RecordingService):
    """Raw bytes and frames set by the test, because real ones need segment files and a replay tmux."""

    def __init__(self, components: Components):
        super().__init__(components)
        self.raw_deltas: list[tuple[PaneId, Delta]] = []
        self.stored_frames: list[ReplayFrame] = []

    async def read_raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        for owner, delta in self.raw_deltas:
            if owner == pane and (since is None or delta.at >= since):
                yield delta

    async def render_frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[ReplayFrame, None]:
        for frame in self.stored_frames:
            if frame.pane == pane and (since or 0) <= frame.at and (until is None or frame.at <= until):
                yield frame


def build_shell_facts(mux_id: str = "%1", session: str = "work", window: int = 1, **facts: object) -> PaneFacts:
    """Return the facts of a pane that runs a shell."""
    defaults: dict[str, object] = {
        "pid": 1000,
        "session_id": "$1",
        "window_id": f"@{window}",
        "window_name": "main",
        "command": "bash",
        "cwd": "/home/me/project",
        "title": "bash",
        "width": 120,
        "height": 40,
        "history_limit": 50_000,
    }
    defaults |= {"mux_id": MuxPaneId(mux_id), "session_name": session, "window_index": window}
    return msgspec.convert(defaults | facts, PaneFacts)
