"""Hearing panes through control mode, where a pane's pipe is somebody else's.

One `tmux -C` client a session that holds such panes. Its bytes are written to the same segments as the recorder's, in
the client's reader thread, so that a busy daemon never makes tmux wait. Output of other panes is dropped here and not
switched off in tmux: a pane that all clients switched off is no longer read, and its program would freeze.
"""

import asyncio
from collections.abc import Callable
from threading import Lock

from termvisor.errors import MuxError
from termvisor.ingest.ear import Ear
from termvisor.ingest.epochs import Epochs
from termvisor.model.ids import EpochId, MuxPaneId
from termvisor.model.output import Epoch, EpochEnd
from termvisor.mux.base import Capture
from termvisor.mux.tmux.client import ControlClient, output_argv
from termvisor.mux.tmux.protocol import Item, Notice, Output, Reply
from termvisor.mux.tmux.server import TmuxServer, is_refused
from termvisor.recorder.format import ENDED, SegmentWriter


class Tap:
    """What the reader thread does with each item: append a heard pane's bytes, switch at an exact place."""

    def __init__(self, now: Callable[[], int], grew: Callable[[EpochId, int], None]):
        self._now, self._grew = now, grew
        self._writers: dict[str, tuple[EpochId, SegmentWriter]] = {}
        self._at_reply: Callable[[Reply], None] | None = None
        self._lock = Lock()

    def __call__(self, item: Item) -> None:
        with self._lock:
            if isinstance(item, Output) and item.pane in self._writers:
                epoch, writer = self._writers[item.pane]
                writer.append(item.data, self._now())
                self._grew(epoch, writer.offset)
            elif isinstance(item, Reply) and self._at_reply is not None:
                change, self._at_reply = self._at_reply, None
                change(item)

    def switch(self, change: Callable[[Reply], None]) -> None:
        """Do this at the place of the next reply in the stream of output."""
        self._at_reply = change

    def write(self, pane: MuxPaneId, epoch: EpochId, writer: SegmentWriter) -> None:
        self._writers[pane] = (epoch, writer)

    def stop(self, pane: MuxPaneId) -> None:
        self._writers.pop(pane, None)

    def stop_now(self, pane: MuxPaneId) -> None:
        with self._lock:
            self.stop(pane)

    @property
    def panes(self) -> set[str]:
        return set(self._writers)


class ControlOutputs:
    """The output clients of one server, by session."""

    def __init__(self, epochs: Epochs, program: str, segment_bytes: int, notice: Callable[[str, Notice], None]):
        self._epochs, self._program, self._segment_bytes, self._notice = epochs, program, segment_bytes, notice
        self._clients: dict[str, tuple[ControlClient, Tap]] = {}
        self._writers: dict[EpochId, SegmentWriter] = {}
        self._loop = asyncio.get_running_loop()
        self.clients_started = 0

    async def hear(self, ear: Ear, server: TmuxServer, lines: int) -> None:
        """Open an epoch whose first byte follows exactly what the capture shows."""
        client, tap = self._client(ear.session_id, server)
        epoch = await self._epochs.reserve(ear.pane, "control")
        writer = SegmentWriter(self._epochs.text.folder(epoch), self._segment_bytes)
        self._writers[epoch.id] = writer
        through = TmuxServer(client, server.instance, version=server.version, exits_unattached=False)
        try:
            await client.request(f"refresh-client -A '{ear.mux_id}:continue'")
            tap.switch(lambda _: tap.write(ear.mux_id, epoch.id, writer))
            seen = await through.capture(ear.mux_id, lines=lines)
        except MuxError:
            ear.epoch, ear.plane = epoch, "control"
            await self.end(ear, "joined")
            raise
        ear.epoch, ear.plane = await self._epochs.begin(epoch, seen), "control"

    async def join(self, ear: Ear, pipe: Epoch, server: TmuxServer, command: str) -> bool:
        """Go over to a pipe without losing or doubling a byte; false when the pane's pipe is taken after all."""
        client, tap = self._client(ear.session_id, server)
        through = TmuxServer(client, server.instance, version=server.version, exits_unattached=False)
        old = ear.epoch
        tap.switch(lambda reply: None if is_refused(reply) else tap.stop(ear.mux_id))
        seen = await through.open_pipe(ear.mux_id, command, lines=0)
        if not isinstance(seen, Capture) or old is None:
            return False
        await self._close(old, "joined")
        ear.epoch, ear.plane = await self._epochs.begin(pipe, seen), "pipe"
        self._tidy()
        return True

    async def end(self, ear: Ear, ended_by: EpochEnd) -> None:
        """Stop hearing a pane this way."""
        for _, tap in self._clients.values():
            tap.stop_now(ear.mux_id)
        epoch, ear.epoch, ear.plane = ear.epoch, None, "none"
        if epoch is not None:
            await self._close(epoch, ended_by)
        self._tidy()

    def lost(self, session_id: str) -> set[str]:
        """A client ended: the panes it heard."""
        client = self._clients.pop(session_id, None)
        return client[1].panes if client else set()

    def close(self) -> None:
        for client, _ in list(self._clients.values()):
            client.close()
        self._clients.clear()

    async def _close(self, epoch: Epoch, ended_by: EpochEnd) -> None:
        writer = self._writers.pop(epoch.id, None)
        if writer is None:
            return
        writer.end(ENDED, self._epochs.clock.now())
        writer.close()
        await self._epochs.end(epoch, ended_by, writer.offset)

    def _client(self, session_id: str, server: TmuxServer) -> tuple[ControlClient, Tap]:
        found = self._clients.get(session_id)
        if found is None or not found[0].is_open:
            tap = Tap(self._epochs.clock.now, self._grew)
            argv = output_argv(self._program, server.instance.socket, session_id)
            found = ControlClient(argv, notice=lambda notice: self._notice(session_id, notice), tap=tap), tap
            self._clients[session_id] = found
            self.clients_started += 1
        return found

    def _grew(self, epoch: EpochId, size: int) -> None:
        self._loop.call_soon_threadsafe(self._epochs.text.grew, epoch, size)

    def _tidy(self) -> None:
        for session_id, (client, tap) in list(self._clients.items()):
            if not tap.panes:
                del self._clients[session_id]
                client.close()
