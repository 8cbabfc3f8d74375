"""Capture the panes of one backend as a daemon does: real store, pipeline, recorder and watchers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from termvisor.backends.backend import Backend, ForkCounter
from termvisor.backends.pane_control import PaneControl, PaneGuard
from termvisor.backends.pane_source import PaneSource
from termvisor.backends.pane_terminal import PaneTerminal
from termvisor.backends.transport import Transport
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.event_log import EventLog
from termvisor.capture.pane_registry import KnownPane
from termvisor.capture.recorder_client import RecorderClient
from termvisor.capture.server_supervisor import ServerSupervisor
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.clock import SystemClock
from termvisor.model.ids import MuxPaneId
from termvisor.pipeline import Pipeline
from termvisor.settings import Paths, Settings
from termvisor.store import Store

T = TypeVar("T")
_TIMEOUT_S = 20.0
_POLL_INTERVAL_S = 0.02


class CaptureScene:
    """The panes of one backend, captured; `open_capture_scene` builds it."""

    def __init__(self, backend: Backend, supervisor: ServerSupervisor, store: Store, pipeline: Pipeline):
        self.backend, self.supervisor, self.store, self.pipeline = backend, supervisor, store, pipeline

    async def wait_for(self, condition: Callable[[], T | None], what: str) -> T:
        """Return the first true result of a condition. Raises AssertionError, with what is missing, after a time."""
        clock = SystemClock()
        deadline = clock.monotonic() + _TIMEOUT_S
        while not (result := condition()):
            if clock.monotonic() > deadline:
                raise AssertionError(f"not within {_TIMEOUT_S:.0f} s: {what}")
            await clock.sleep(_POLL_INTERVAL_S)
        return result

    async def wait_for_watcher(self) -> ServerWatcher:
        """Return the watcher of the backend's only server."""
        return await self.wait_for(
            lambda: next((one for one in self.supervisor.watchers.values() if one.is_watching), None),
            "a server of the backend is watched",
        )

    async def get_source(self) -> PaneSource:
        return (await self.wait_for_watcher()).server

    async def build_control(self) -> PaneControl:
        return self.backend.build_control(await self.get_source())

    async def build_terminal(self) -> PaneTerminal:
        return self.backend.build_terminal(await self.get_source())

    async def wait_for_pane(self, mux_id: MuxPaneId) -> KnownPane:
        """Return a pane once it is listed and captured."""
        watcher = await self.wait_for_watcher()
        watcher.request_listing()
        await self.wait_for(lambda: watcher.known_panes.get(mux_id), f"pane {mux_id} is listed")
        await self.wait_for(lambda: watcher.describe_capture(mux_id)[0] != "none", f"pane {mux_id} is captured")
        return watcher.known_panes[mux_id]

    async def read_lines(self, pane: KnownPane) -> list[str]:
        """Return the text of the pane's stored and visible lines."""
        await self.pipeline.wait_settled()
        return [line.text for line in await self.pipeline.lines.read(pane.id, limit=5000)]

    async def wait_for_line(self, pane: KnownPane, text: str) -> list[str]:
        """Return the lines of a pane once one of them is exactly this text."""
        async with asyncio.timeout(_TIMEOUT_S):
            while text not in (lines := await self.read_lines(pane)):
                await SystemClock().sleep(_POLL_INTERVAL_S)
        return lines

    def build_guard(self, pane: KnownPane) -> PaneGuard:
        """Return a guard that accepts the pane as it is."""
        return PaneGuard(pane=pane.facts.mux_id, pid=pane.facts.pid)

    async def list_gap_causes(self, pane: KnownPane) -> list[str]:
        return [gap.cause for gap in await self.store.output.list_gaps(pane=pane.id)]


@asynccontextmanager
async def open_capture_scene(
    paths: Paths, settings: Settings, backend: Backend, transport: Transport
) -> AsyncIterator[CaptureScene]:
    """Watch and capture all servers of the backend until the end of the block."""
    clock = SystemClock()
    store = await Store.open(paths.database, clock)
    pipeline = Pipeline(store.output, raw_dir=paths.raw_dir, clock=clock, flush_interval=settings.flush_interval)
    epochs = EpochLifecycle(store, pipeline, EventLog(store.events, clock), clock)
    recorder = RecorderClient(paths, settings, pipeline.note_growth)
    supervisor = ServerSupervisor(
        settings,
        backends={backend.name: backend},
        transports=[transport],
        forks=ForkCounter(),
        epochs=epochs,
        recorder=recorder,
    )
    await recorder.start()
    async with asyncio.TaskGroup() as group:
        pipeline_task, watching = group.create_task(pipeline.run()), group.create_task(supervisor.run())
        try:
            yield CaptureScene(backend, supervisor, store, pipeline)
        finally:
            supervisor.stop()
            await watching
            await recorder.quit()
            pipeline_task.cancel()
    await transport.close()
    await store.close()
