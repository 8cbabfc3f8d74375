"""Run the capture side of a daemon in the test process: real store, pipeline, recorder and tmux."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from termvisor.backends.backend import BackendDependencies, ForkCounter
from termvisor.backends.pane_source import CaptureLost, ServerNews
from termvisor.backends.registry import build_backends
from termvisor.backends.tmux.commands import TmuxClient
from termvisor.backends.tmux.native_client import NativeClient
from termvisor.backends.tmux.pane_source import identify_server
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.backends.tmux.watched_server import TmuxPaneSource
from termvisor.backends.transports.local import LocalTransport
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.event_log import EventLog
from termvisor.capture.pane_capture import PaneCaptureController
from termvisor.capture.recorder_client import RecorderClient, RecorderDied, RecorderUpdate
from termvisor.capture.segment_sink import SegmentSink
from termvisor.capture.server_supervisor import ServerSupervisor
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.clock import SystemClock
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.output import Epoch, EpochSource, Gap
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.model.terminal.target import LOCAL, ServerKey
from termvisor.pipeline import Pipeline
from termvisor.recorder.segment_log import FLAG_ENDED, SegmentWriter
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.store import Store
from termvisor.system.procfs import is_process_running
from termvisor.testing.private_tmux import PrivateTmux
from tests.unit.wait_until import wait_until

T = TypeVar("T")
SERVER = ServerInstance(TargetName("local"), "/run/tmux/default", 100, 1)
SETTINGS = Settings(thin_interval=0.1, full_interval=1.0, flush_interval=0.01, tmux_sockets=())


def build_key(socket: str) -> ServerKey:
    """Return the key of a server on this machine."""
    return ServerKey(LOCAL.name, socket)


class AdvancedClock(SystemClock):
    """The real clock, whose monotonic time a test can advance."""

    advance_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.advance_s


class CaptureStore:
    """A real store and the running pipeline that fills it; restart() is what follows a killed daemon."""

    def __init__(self, folder: str):
        self.paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        make_instance_folders(self.paths)
        self.clock = AdvancedClock()

    async def open(self) -> "CaptureStore":
        self.store = await Store.open(self.paths.database, self.clock)
        self.pipeline = Pipeline(self.store.output, raw_dir=self.paths.raw_dir, clock=self.clock, flush_interval=0.01)
        self.event_log = EventLog(self.store.events, self.clock)
        self.epochs = EpochLifecycle(self.store, self.pipeline, self.event_log, self.clock)
        self._pipeline_task = asyncio.ensure_future(self.pipeline.run())
        return self

    async def close(self) -> None:
        self._pipeline_task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._pipeline_task
        await self.store.close()

    async def restart(self) -> None:
        await self.close()
        await self.open()

    async def add_pane(self, mux_id: str = "%1") -> PaneId:
        facts = PaneFacts(mux_id=MuxPaneId(mux_id), pid=7)
        pane, _ = await self.store.panes.find_or_add(PaneInstance(SERVER, MuxPaneId(mux_id)), facts, self.clock.now())
        return pane

    async def reserve_epoch(self, pane: PaneId, source: EpochSource = "pipe") -> Epoch:
        """Reserve an epoch and return it as stored."""
        epoch = await self.epochs.reserve_epoch(pane, source)
        return next(stored for stored in await self.store.output.list_open_epochs() if stored.id == epoch.id)

    def write_output(self, epoch: Epoch, data: bytes, at: int = 0, *, ends_at: int | None = None) -> int:
        """Append bytes to an epoch's log, as the recorder would, and return the log's size."""
        writer = SegmentWriter(self.pipeline.build_folder_path(epoch), 1 << 20, self.epochs.measure_size(epoch))
        writer.append(data, at or self.clock.now())
        if ends_at is not None:
            writer.write_end(FLAG_ENDED, ends_at)
        writer.close()
        self.pipeline.note_growth(epoch.id, writer.offset)
        return writer.offset

    def read_raw(self, epoch: Epoch) -> bytes:
        return b"".join(
            part.read_bytes() for part in sorted(Path(self.pipeline.build_folder_path(epoch)).glob("*.raw"))
        )

    async def list_epochs(self, pane: PaneId) -> list[Epoch]:
        return await self.store.output.list_epochs(pane)

    async def list_end_causes(self, pane: PaneId) -> list[str | None]:
        return [epoch.ended_by for epoch in await self.list_epochs(pane)]

    async def read_lines(self, pane: PaneId) -> list[str]:
        await self.pipeline.wait_settled()
        return [line.text for line in await self.pipeline.lines.read(pane, limit=5000)]

    async def list_gaps(self, pane: PaneId | None = None) -> list[Gap]:
        return await self.store.output.list_gaps(pane=pane)

    async def list_gap_causes(self, pane: PaneId | None = None) -> list[str]:
        return [gap.cause for gap in await self.list_gaps(pane)]

    async def list_event_kinds(self) -> list[str]:
        return [event.kind for event in await self.store.events.list(limit=200)]


class CaptureHarness:
    """A recorder, a tmux server and its PaneCaptureController; nothing happens outside run_turn()."""

    def __init__(self, capture_store: CaptureStore, tmux: PrivateTmux):
        self.capture_store, self.tmux = capture_store, tmux

    async def open(self, client: TmuxClient | None = None) -> "CaptureHarness":
        capture_store, socket = self.capture_store, self.tmux.socket
        self.updates: list[RecorderUpdate] = []
        self.news: list[ServerNews] = []
        self.recorder = RecorderClient(capture_store.paths, SETTINGS, capture_store.pipeline.note_growth)
        self.recorder.on_update = self.updates.append
        await self.recorder.start()
        self.client = client or NativeClient(socket)
        self.forks = ForkCounter()
        self.server = TmuxPaneSource(
            await identify_server(self.client, socket),
            PlainClient("tmux", socket, self.forks),
            program="tmux",
            report=self.news.append,
            count_fork=self.forks,
        )
        self.control_capture = self.server.control_capture
        self.sink = SegmentSink(capture_store.epochs, self.recorder, segment_bytes=1 << 20, report=self.news.append)
        open_epochs: dict[PaneId, list[Epoch]] = {}
        for epoch in await capture_store.store.output.list_open_epochs():
            open_epochs.setdefault(epoch.pane, []).append(epoch)
        self.captures = PaneCaptureController(
            self.server,
            epochs=capture_store.epochs,
            recorder=self.recorder,
            sink=self.sink,
            resumable_epochs=open_epochs,
            get_baseline_lines=lambda: 100,
            is_server_alive=self.is_server_alive,
        )
        return self

    async def restart(self) -> None:
        """Simulate a killed daemon and its successor; the recorder keeps running."""
        self.recorder.detach()
        await self.server.close()
        await self.capture_store.restart()
        await self.open()

    async def close(self) -> None:
        await self.server.close()
        await self.recorder.quit()

    def is_server_alive(self) -> bool:
        return is_process_running(self.server.instance.pid, self.server.instance.started)

    async def read_facts(self, mux_id: str) -> PaneFacts:
        return next(facts for facts in await self.server.list_pane_facts() if facts.mux_id == mux_id)

    async def adopt_pane(self, mux_id: str, generation: int = 0) -> PaneId:
        facts = await self.read_facts(mux_id)
        instance = PaneInstance(self.server.instance, facts.mux_id, generation)
        pane, _ = await self.capture_store.store.panes.find_or_add(instance, facts, self.capture_store.clock.now())
        await self.captures.adopt_pane(pane, facts)
        return pane

    async def deliver_updates(self) -> None:
        """Pass the recorder's updates to the controller and run the event loop once."""
        while self.updates:
            await self._handle_update(self.updates.pop(0))
        await asyncio.sleep(0.005)

    async def run_turn(self) -> None:
        await self.deliver_updates()
        while self.news:
            news = self.news.pop(0)
            if isinstance(news, CaptureLost):
                await self.captures.handle_capture_lost(news)
        for facts in await self.server.list_pane_facts():
            self.captures.update_facts(facts)
        await self.captures.run_step()

    async def _handle_update(self, update: RecorderUpdate) -> None:
        if isinstance(update, RecorderDied):
            await self.captures.handle_recorder_death()
        else:
            await self.captures.handle_stream_update(update)

    async def run_until(self, condition: Callable[[], T], turns: int = 600) -> T:
        """Call run_turn() until the condition holds."""
        for _ in range(turns):
            if answer := condition():
                return answer
            await self.run_turn()
        raise AssertionError(f"condition not met after {turns} turns")

    def get_data_plane(self, mux_id: str) -> str:
        state = self.captures.find_pane(MuxPaneId(mux_id))
        return "" if state is None else state.data_plane

    def is_held(self, mux_id: str) -> bool:
        state = self.captures.find_pane(MuxPaneId(mux_id))
        return state is not None and state.data_plane == "pipe" and state.handoff_pending_since is None

    async def wait_captured(self, mux_id: str, plane: str = "pipe") -> None:
        await self.run_until(lambda: self.get_data_plane(mux_id) == plane and (plane != "pipe" or self.is_held(mux_id)))

    async def type_and_wait(self, mux_id: str, word: str) -> None:
        """Type a word into a pane that runs `cat`, and wait until its echo and its output are stored."""
        pane = self.captures.find_pane(MuxPaneId(mux_id)).pane
        self.tmux.type_line(mux_id, word)
        for _ in range(400):
            await self.run_turn()
            if (await self.capture_store.read_lines(pane)).count(word) >= 2:
                return
        raise AssertionError(f"{word} was not captured")

    def list_client_sessions(self) -> list[str]:
        """Return the name of the session of every attached client."""
        return sorted(self.tmux("list-clients", "-F", "#{session_name}").split())


class WatcherHarness:
    """A ServerSupervisor, or one ServerWatcher of it, running as in a daemon."""

    def __init__(self, capture_store: CaptureStore, *sockets: str):
        self.capture_store = capture_store
        self.settings = replace(SETTINGS, tmux_sockets=sockets)
        self._prepare()

    def _prepare(self) -> None:
        capture_store = self.capture_store
        self.recorder = RecorderClient(capture_store.paths, self.settings, capture_store.pipeline.note_growth)
        forks, self.transport = ForkCounter(), LocalTransport()
        dependencies = BackendDependencies(
            paths=capture_store.paths, get_settings=lambda: self.supervisor.settings, count_fork=forks
        )
        self.supervisor = ServerSupervisor(
            self.settings,
            backends=build_backends(dependencies),
            transports=[self.transport],
            forks=forks,
            epochs=capture_store.epochs,
            recorder=self.recorder,
        )
        self.task: asyncio.Future[None] | None = None

    async def restart(self) -> None:
        """Simulate the next daemon."""
        await self.capture_store.restart()
        self._prepare()
        await self.start_supervisor()

    def build_watcher(self, socket: str) -> ServerWatcher:
        return self.supervisor.build_watcher(build_key(socket), self.supervisor.backends["tmux"], self.transport)

    async def watch_server(self, socket: str) -> ServerWatcher:
        """Run only the watcher of this server."""
        await self.recorder.start()
        watcher = self.supervisor.watchers[build_key(socket)] = self.build_watcher(socket)
        self.task = asyncio.ensure_future(watcher.run())
        await watcher.first_listing_done.wait()
        return watcher

    async def start_supervisor(self) -> "WatcherHarness":
        """Run the supervisor until its first scan is done."""
        await self.recorder.start()
        self.task = asyncio.ensure_future(self.supervisor.run())
        await self.supervisor.first_scan_done.wait()
        return self

    async def leave(self, *, keep_pipes: bool = False) -> None:
        """Stop as a daemon does when it exits."""
        self.supervisor.stop(keep_pipes=keep_pipes)
        for watcher in self.supervisor.watchers.values():
            watcher.stop(keep_pipes=keep_pipes)
        if self.task is not None:
            await self.task
        self.recorder.detach()

    async def list_panes(self) -> dict[str, PaneId]:
        return {pane.instance.mux_id: pane.id for pane in await self.capture_store.store.panes.list_panes()}

    async def wait_captured(self, socket: str, mux_id: str, plane: str = "pipe") -> PaneId:
        """Wait until a pane is captured that way and return its id."""
        await wait_until(lambda: self._is_captured(socket, mux_id, plane))
        return (await self.list_panes())[mux_id]

    def _is_captured(self, socket: str, mux_id: str, plane: str) -> bool:
        watcher = self.supervisor.watchers.get(build_key(socket))
        if watcher is None or watcher.describe_capture(MuxPaneId(mux_id))[0] != plane:
            return False
        state = watcher.captures.find_pane(MuxPaneId(mux_id))
        return state is not None and state.handoff_pending_since is None

    async def wait_for_line(self, pane: PaneId, word: str) -> None:
        """Wait until a line with exactly this word is stored."""
        async with asyncio.timeout(10):
            while word not in await self.capture_store.read_lines(pane):
                await asyncio.sleep(0.01)

    async def wait_for_title(self, title: str) -> None:
        """Wait until a pane with this title is stored."""
        async with asyncio.timeout(10):
            while title not in [pane.facts.title for pane in await self.capture_store.store.panes.list_panes()]:
                await asyncio.sleep(0.01)

    async def wait_for_event(self, kind: str) -> None:
        """Wait until an event of this kind is stored."""
        async with asyncio.timeout(10):
            while kind not in await self.capture_store.list_event_kinds():
                await asyncio.sleep(0.01)


__all__ = [
    "SERVER",
    "SETTINGS",
    "AdvancedClock",
    "CaptureHarness",
    "CaptureStore",
    "WatcherHarness",
    "build_key",
    "wait_until",
]
