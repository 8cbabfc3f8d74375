"""The watching side of a daemon in this process: a real store, pipeline, recorder and tmux, driven by hand."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from termvisor.backends.tmux.client import Client, ControlClient, control_argv
from termvisor.backends.tmux.control_mode import Notice
from termvisor.backends.tmux.pane_source import identify
from termvisor.capture.control_mode_capture import ControlOutputs, Terms
from termvisor.capture.epochs import Epochs
from termvisor.capture.event_log import Chronicle
from termvisor.capture.pane_capture import Ears, Means
from termvisor.capture.recorder_client import Grew, Lost, News, RecorderLink
from termvisor.capture.server_supervisor import Lookout
from termvisor.capture.server_watcher import Kit, ServerWatch
from termvisor.clock import SystemClock
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.output import Epoch, EpochSource, Gap
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.pipeline import Pipeline
from termvisor.recorder.segment_log import ENDED, SegmentWriter
from termvisor.settings import Places, Settings, prepare
from termvisor.store import Store
from termvisor.testing.tmux import PrivateTmux
from tests.unit.waiting import until

T = TypeVar("T")
SERVER = ServerInstance(TargetName("local"), "/run/tmux/default", 100, 1)
SETTINGS = Settings(thin_interval=0.1, full_interval=1.0, flush_interval=0.01, tmux_sockets=())


class AheadClock(SystemClock):
    """The real clock, but a deadline can be made to pass at once."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


class Memory:
    """A store and the stage that fills it, both real and running. `again` is what a killed daemon comes back to."""

    def __init__(self, folder: str):
        self.places = Places(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        prepare(self.places)
        self.clock = AheadClock()

    async def open(self) -> "Memory":
        self.store = await Store.open(self.places.database, self.clock)
        self.pipeline = Pipeline(self.store.output, raw_dir=self.places.raw_dir, clock=self.clock, flush_for=0.01)
        self.chronicle = Chronicle(self.store.events, self.clock)
        self.epochs = Epochs(self.store, self.pipeline, self.chronicle, self.clock)
        self._flow = asyncio.ensure_future(self.pipeline.run())
        return self

    async def close(self) -> None:
        self._flow.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._flow
        await self.store.close()

    async def again(self) -> None:
        await self.close()
        await self.open()

    async def pane(self, mux_id: str = "%1") -> PaneId:
        facts = PaneFacts(mux_id=MuxPaneId(mux_id), pid=7)
        pane, _ = await self.store.panes.recognise(PaneInstance(SERVER, MuxPaneId(mux_id)), facts, self.clock.now())
        return pane

    async def reserved(self, pane: PaneId, source: EpochSource = "pipe") -> Epoch:
        """An epoch with a number only, as the store knows it."""
        epoch = await self.epochs.reserve(pane, source)
        return next(one for one in await self.store.output.open_epochs() if one.id == epoch.id)

    def write(self, epoch: Epoch, data: bytes, at: int = 0, *, ends_at: int | None = None) -> int:
        """Put bytes into an epoch's log, as the recorder would; the log's length."""
        writer = SegmentWriter(self.pipeline.folder(epoch), 1 << 20, self.epochs.size(epoch))
        writer.append(data, at or self.clock.now())
        if ends_at is not None:
            writer.end(ENDED, ends_at)
        writer.close()
        self.pipeline.grew(epoch.id, writer.offset)
        return writer.offset

    def raw(self, epoch: Epoch) -> bytes:
        return b"".join(part.read_bytes() for part in sorted(Path(self.pipeline.folder(epoch)).glob("*.raw")))

    async def epochs_of(self, pane: PaneId) -> list[Epoch]:
        return await self.store.output.epochs(pane)

    async def ends(self, pane: PaneId) -> list[str | None]:
        return [epoch.ended_by for epoch in await self.epochs_of(pane)]

    async def lines(self, pane: PaneId) -> list[str]:
        await self.pipeline.settle()
        return [line.text for line in await self.store.output.lines(pane, limit=5000)]

    async def gaps(self, pane: PaneId | None = None) -> list[Gap]:
        return await self.store.output.gaps(pane=pane)

    async def causes(self, pane: PaneId | None = None) -> list[str]:
        return [gap.cause for gap in await self.gaps(pane)]

    async def events(self) -> list[str]:
        return [event.kind for event in await self.store.events.list(limit=200)]


class Listening:
    """A recorder, a server and the ears on it. Nothing happens but in `turn`: what a watch does, step by step."""

    def __init__(self, memory: Memory, tmux: PrivateTmux):
        self.memory, self.tmux = memory, tmux

    async def open(self, client: Client | None = None) -> "Listening":
        memory, socket = self.memory, self.tmux.socket
        self.news: list[News] = []
        self.notices: list[tuple[str, Notice]] = []
        self.recorder = RecorderLink(memory.places, SETTINGS, self.news.append)
        await self.recorder.start()
        self.client = client or await self._attached()
        self.server = await identify(self.client, socket)
        self.forks: list[None] = []
        self.outputs = ControlOutputs(
            memory.epochs,
            Terms("tmux", 1 << 20),
            lambda s, n: self.notices.append((s, n)),
            lambda: self.forks.append(None),
        )
        left_open: dict[PaneId, list[Epoch]] = {}
        for epoch in await memory.store.output.open_epochs():
            left_open.setdefault(epoch.pane, []).append(epoch)
        self.ears = Ears(Means(memory.epochs, self.recorder, self.outputs, left_open, lambda: 100), self.server)
        return self

    async def _attached(self) -> ControlClient:
        client = ControlClient(control_argv("tmux", self.tmux.socket), notice=lambda notice: None)
        await client.attached()
        return client

    async def again(self) -> None:
        """The daemon was killed and another one is there; the recorder went on."""
        self.recorder.leave()
        self.client.close()
        await self.memory.again()
        await self.open()

    async def close(self) -> None:
        await self.outputs.close()
        self.client.close()
        await self.recorder.quit()

    async def facts(self, mux_id: str) -> PaneFacts:
        return next(facts for facts in await self.server.facts() if facts.mux_id == mux_id)

    async def adopt(self, mux_id: str) -> PaneId:
        facts = await self.facts(mux_id)
        instance = PaneInstance(self.server.instance, facts.mux_id)
        pane, _ = await self.memory.store.panes.recognise(instance, facts, self.memory.clock.now())
        await self.ears.adopt(pane, facts)
        return pane

    async def deliver(self) -> None:
        """Give the recorder's news to the ears, and the event loop its turn."""
        while self.news:
            await self._hear(self.news.pop(0))
        await asyncio.sleep(0.005)

    async def turn(self) -> None:
        await self.deliver()
        while self.notices:
            session_id, notice = self.notices.pop(0)
            await self.ears.output_notice(session_id, notice.name, notice.words)
        for facts in await self.server.facts():
            self.ears.see(facts)
        await self.ears.step()

    async def _hear(self, item: News) -> None:
        if isinstance(item, Grew):
            self.memory.pipeline.grew(item.epoch, item.size)
        elif isinstance(item, Lost):
            await self.ears.recorder_lost()
        else:
            await self.ears.news(item)

    async def until(self, look: Callable[[], T], turns: int = 600) -> T:
        """Turn until something is true."""
        for _ in range(turns):
            if answer := look():
                return answer
            await self.turn()
        raise AssertionError("it did not happen")

    def plane(self, mux_id: str) -> str:
        ear = self.ears.of(MuxPaneId(mux_id))
        return "" if ear is None else ear.plane

    def is_held(self, mux_id: str) -> bool:
        ear = self.ears.of(MuxPaneId(mux_id))
        return ear is not None and ear.plane == "pipe" and ear.unheld_since is None

    async def heard(self, mux_id: str, plane: str = "pipe") -> None:
        await self.until(lambda: self.plane(mux_id) == plane and (plane != "pipe" or self.is_held(mux_id)))

    async def say(self, mux_id: str, word: str) -> None:
        """Have a `cat` repeat a word, and wait until it was heard."""
        pane = self.ears.of(MuxPaneId(mux_id)).pane
        self.tmux.type(mux_id, word)
        for _ in range(400):
            await self.turn()
            if word in await self.memory.lines(pane):
                return
        raise AssertionError(f"{word} was not heard")

    def clients(self) -> list[str]:
        """The sessions that have a client."""
        return self.tmux("list-clients", "-F", "#{session_name}").split("\n")


class Watching:
    """A watch on one server, or a lookout for several, running as in a daemon."""

    def __init__(self, memory: Memory, *sockets: str):
        self.memory = memory
        self.settings = replace(SETTINGS, tmux_sockets=sockets)
        self._prepare()

    def _prepare(self) -> None:
        memory = self.memory
        self.recorder = RecorderLink(memory.places, self.settings, self._tell)
        self.kit = Kit(memory.epochs, self.recorder, self.settings, lambda: memory.pipeline.bytes_heard)
        self.lookout = Lookout(self.kit, memory.places)
        self.task: asyncio.Future[None] | None = None

    def _tell(self, item: News) -> None:
        self.lookout.news(item)

    async def again(self) -> None:
        """Another daemon is there."""
        await self.memory.again()
        self._prepare()
        await self.look()

    async def watch(self, socket: str) -> ServerWatch:
        """Watch this server and no other."""
        await self.recorder.start()
        watch = self.lookout.watches[socket] = ServerWatch(socket, self.kit)
        self.task = asyncio.ensure_future(watch.run())
        await watch.has_looked.wait()
        return watch

    async def look(self) -> "Watching":
        """Look for all servers that the settings name."""
        await self.recorder.start()
        self.task = asyncio.ensure_future(self.lookout.run())
        await self.lookout.has_looked.wait()
        return self

    async def leave(self, *, keep_pipes: bool = False) -> None:
        """What the end of a daemon does to servers and recorder."""
        self.lookout.stop(keep_pipes=keep_pipes)
        for watch in self.lookout.watches.values():
            watch.stop(keep_pipes=keep_pipes)
        if self.task is not None:
            await self.task
        self.recorder.leave()

    async def panes(self) -> dict[str, PaneId]:
        return {pane.instance.mux_id: pane.id for pane in await self.memory.store.panes.all()}

    async def heard(self, socket: str, mux_id: str, plane: str = "pipe") -> PaneId:
        """Wait until a pane is heard that way; our number for it."""
        await until(lambda: self._is_heard(socket, mux_id, plane))
        return (await self.panes())[mux_id]

    def _is_heard(self, socket: str, mux_id: str, plane: str) -> bool:
        watch = self.lookout.watches.get(socket)
        if watch is None or watch.plane_of(MuxPaneId(mux_id)) != plane:
            return False
        ear = watch.ears.of(MuxPaneId(mux_id))
        return ear is not None and ear.unheld_since is None

    async def said(self, pane: PaneId, word: str) -> None:
        """Wait until a word can be read back."""
        async with asyncio.timeout(10):
            while word not in await self.memory.lines(pane):
                await asyncio.sleep(0.01)

    async def called(self, title: str) -> None:
        """Wait until a pane of this title is stored."""
        async with asyncio.timeout(10):
            while title not in [one.facts.title for one in await self.memory.store.panes.all()]:
                await asyncio.sleep(0.01)

    async def told(self, kind: str) -> None:
        """Wait until an event was stored."""
        async with asyncio.timeout(10):
            while kind not in await self.memory.events():
                await asyncio.sleep(0.01)


__all__ = ["SERVER", "SETTINGS", "AheadClock", "Listening", "Memory", "Watching", "until"]
