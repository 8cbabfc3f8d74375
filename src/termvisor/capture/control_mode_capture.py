"""Hearing panes through control mode, where a pane's pipe is somebody else's.

One `tmux -C` client a session that holds such panes. Its bytes are written to the same segments as the recorder's, in
the client's reader thread, so that a busy daemon never makes tmux wait. Output of other panes is dropped here and not
switched off in tmux: a pane that all clients switched off is no longer read, and its program would freeze.
"""

import asyncio
import contextlib
from collections.abc import Callable
from threading import Lock

from msgspec import Struct

from termvisor.backends.pane_source import Capture
from termvisor.backends.tmux.client import PRIVATE_SESSION, ControlClient, output_argv
from termvisor.backends.tmux.control_mode import Item, Notice, Output, Reply
from termvisor.backends.tmux.pane_source import TmuxServer, is_refused
from termvisor.capture.epochs import Epochs
from termvisor.capture.pane_capture_state import Ear
from termvisor.errors import MuxError
from termvisor.log import logger
from termvisor.model.ids import EpochId, MuxPaneId
from termvisor.model.terminal.output import Epoch, EpochEnd
from termvisor.recorder.segment_log import ENDED, SegmentWriter

UNWRITABLE = "unwritable"
"""The name of our own notice that a pane's bytes could not be kept."""

log = logger("control")


class Tap:
    """What the reader thread does with each item: append a heard pane's bytes, switch at an exact place."""

    def __init__(self, now: Callable[[], int], grew: Callable[[EpochId, int], None], unwritable: Callable[[str], None]):
        self._now, self._grew, self._unwritable = now, grew, unwritable
        self._writers: dict[str, tuple[EpochId, SegmentWriter]] = {}
        self._at_reply: Callable[[Reply], None] | None = None
        self._lock = Lock()

    def __call__(self, item: Item) -> None:
        with self._lock:
            if isinstance(item, Output) and item.pane in self._writers:
                self._append(item)
            elif isinstance(item, Reply) and self._at_reply is not None:
                change, self._at_reply = self._at_reply, None
                change(item)

    def _append(self, item: Output) -> None:
        epoch, writer = self._writers[item.pane]
        try:
            writer.append(item.data, self._now())
        except OSError as error:
            log.error("epoch %s cannot be written: %s", epoch, error)
            del self._writers[item.pane]
            self._unwritable(item.pane)
        else:
            self._grew(epoch, writer.offset)

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
        with self._lock:
            return set(self._writers)


class Terms(Struct, frozen=True):
    """What the settings say about output clients."""

    program: str
    segment_bytes: int


class ControlOutputs:
    """The output clients of one server, by session."""

    def __init__(self, epochs: Epochs, terms: Terms, notice: Callable[[str, Notice], None], forked: Callable[[], None]):
        self._epochs, self._terms, self._notice, self._forked = epochs, terms, notice, forked
        self._clients: dict[str, tuple[ControlClient, Tap]] = {}
        self._writers: dict[EpochId, SegmentWriter] = {}
        self._loop = asyncio.get_running_loop()
        self._home = PRIVATE_SESSION

    async def hear(self, ear: Ear, server: TmuxServer, lines: int) -> None:
        """Open an epoch whose first byte follows exactly what the capture shows.

        Never in a session that ends unattached: ours would hold it, or tmux 3.3a would crash when ours is the last.
        """
        if ear.ends_unattached:
            raise MuxError(f"the session of {ear.mux_id} ends with its last client")
        client, tap = self._client(ear.session_id, server)
        epoch = await self._epochs.reserve(ear.pane, "control")
        writer = SegmentWriter(self._epochs.text.folder(epoch), self._terms.segment_bytes)
        self._writers[epoch.id] = writer
        through = TmuxServer(client, server.instance, version=server.version, exits_unattached=False)
        try:
            await client.attached()
            await client.request(f"refresh-client -A '{ear.mux_id}:continue'")
            tap.switch(lambda _: tap.write(ear.mux_id, epoch.id, writer))
            seen = await through.capture(ear.mux_id, lines=lines)
        except MuxError:
            ear.epoch, ear.plane = epoch, "control"
            await self.end(ear, "joined")
            raise
        ear.epoch, ear.plane = await self._epochs.begin(epoch, seen), "control"

    def follows(self, ear: Ear) -> bool:
        """Whether it is the client of the pane's present session that was told to listen to it."""
        found = self._clients.get(ear.session_id)
        return found is not None and ear.mux_id in found[1].panes

    def hears(self, ear: Ear) -> bool:
        """Whether that client lives."""
        return self.follows(ear) and self._clients[ear.session_id][0].is_open

    async def join(self, ear: Ear, pipe: Epoch, server: TmuxServer, command: str) -> bool:
        """Go over to a pipe without losing or doubling a byte; false when the pane's pipe is taken after all."""
        old = ear.epoch
        if old is None or not self.hears(ear):
            raise MuxError(f"{ear.mux_id} is no longer heard by its control client")
        client, tap = self._clients[ear.session_id]
        through = TmuxServer(client, server.instance, version=server.version, exits_unattached=False)
        tap.switch(lambda reply: None if is_refused(reply) else tap.stop(ear.mux_id))
        seen = await through.open_pipe(ear.mux_id, command, lines=0)
        if not isinstance(seen, Capture):
            return False
        await self._close(old, "joined")
        ear.epoch, ear.plane = await self._epochs.begin(pipe, seen), "pipe"
        await self._tidy()
        return True

    async def end(self, ear: Ear, ended_by: EpochEnd, since: int | None = None) -> None:
        """Stop hearing a pane this way."""
        for _, tap in self._clients.values():
            tap.stop_now(ear.mux_id)
        epoch, ear.epoch, ear.plane = ear.epoch, None, "none"
        if epoch is not None:
            await self._close(epoch, ended_by, since)
        await self._tidy()

    def lost(self, session_id: str) -> set[str]:
        """A client ended: the panes it heard. One that came in its place meanwhile is not meant."""
        found = self._clients.get(session_id)
        if found is None or found[0].is_open:
            return set()
        del self._clients[session_id]
        return found[1].panes

    async def close(self) -> None:
        for session_id in list(self._clients):
            await self._leave(session_id)

    async def _close(self, epoch: Epoch, ended_by: EpochEnd, since: int | None = None) -> None:
        writer = self._writers.pop(epoch.id, None)
        if writer is None:
            return
        with contextlib.suppress(OSError):  # no room even for the closing record
            writer.end(ENDED, self._epochs.clock.now())
        writer.close()
        await self._epochs.end(epoch, ended_by, writer.offset, since=since)

    def _client(self, session_id: str, server: TmuxServer) -> tuple[ControlClient, Tap]:
        found = self._clients.get(session_id)
        if found is None or not found[0].is_open:
            tap = Tap(self._epochs.clock.now, self._grew, lambda pane: self._unwritable(session_id, pane))
            self._home = server.home
            argv = output_argv(self._terms.program, server.instance.socket, session_id)
            found = ControlClient(argv, notice=lambda notice: self._notice(session_id, notice), tap=tap), tap
            self._clients[session_id] = found
            self._forked()
        return found

    def _grew(self, epoch: EpochId, size: int) -> None:
        self._loop.call_soon_threadsafe(self._epochs.text.grew, epoch, size)

    def _unwritable(self, session_id: str, pane: str) -> None:
        self._loop.call_soon_threadsafe(self._notice, session_id, Notice(UNWRITABLE, (pane,)))

    async def _tidy(self) -> None:
        for session_id, (_, tap) in list(self._clients.items()):
            if not tap.panes:
                await self._leave(session_id)

    async def _leave(self, session_id: str) -> None:
        """By way of our own session: tmux 3.3a crashes when a session ends because its last client died (15 of 40)."""
        client, _ = self._clients.pop(session_id)
        with contextlib.suppress(MuxError):
            await client.request(f"switch-client -t ={self._home}")
        client.close()
