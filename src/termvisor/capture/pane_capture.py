"""How all panes of one server are heard: opens pipes, notices who closed them and why, falls back, and comes back.

Runs inside its server's watch, one step after the other; the recorder's news reach it through `news`.
"""

from collections.abc import Callable

from msgspec import Struct

from termvisor.backends.pane_source import Capture, Thin
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.capture.control_mode_capture import UNWRITABLE, ControlOutputs
from termvisor.capture.epochs import Epochs
from termvisor.capture.event_log import Chronicle
from termvisor.capture.pane_capture_state import DOUBT_FOR, EOF_WITHIN, HELD_WITHIN, Ear, why_ended
from termvisor.capture.recorder_client import Ended, Held, RecorderLink
from termvisor.errors import MuxError
from termvisor.log import logger
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd
from termvisor.model.terminal.pane import PaneFacts
from termvisor.system.process_start import started

_AT_ONCE = 8
"""Helpers on their way to the recorder; each is a short Python process."""
_NO_WAY = "its pipe is somebody else's, and no control client may listen here"

log = logger("ears")


class Means(Struct):
    """What listening needs of the world."""

    epochs: Epochs
    recorder: RecorderLink
    outputs: ControlOutputs
    left_open: dict[PaneId, list[Epoch]]
    """Epochs that an earlier daemon left open, oldest first; each is resumed or closed once."""
    baseline_lines: Callable[[], int] = lambda: 2000


class Ears:
    def __init__(self, means: Means, server: TmuxServer):
        self._means, self.server = means, server
        self._ears: dict[MuxPaneId, Ear] = {}
        self._leaving: dict[EpochId, Ear] = {}
        self._given_up: set[EpochId] = set()
        """Epochs whose helper may still reach the recorder, though nobody listens to them."""

    def of(self, mux_id: MuxPaneId) -> Ear | None:
        return self._ears.get(mux_id)

    async def adopt(self, pane: PaneId, facts: PaneFacts) -> None:
        """A pane is there, seen for the first time by this daemon."""
        gaps = await self._means.epochs.store.output.gaps(pane=pane)
        is_foreign = any(gap.cause in ("pipe_stolen", "pipe_closed") for gap in gaps)
        ear = Ear(pane, facts.mux_id, facts.session_id, is_foreign=is_foreign)
        ear.see(facts)
        self._ears[facts.mux_id] = ear
        for epoch in self._means.left_open.pop(pane, []):
            await self._resume(ear, epoch)

    def see(self, facts: PaneFacts) -> None:
        if ear := self._ears.get(facts.mux_id):
            ear.see(facts)

    async def leave(self, mux_id: MuxPaneId, ended_by: EpochEnd = "pane_exited") -> None:
        """A pane is gone. The end of its bytes is still on its way from the recorder."""
        ear = self._ears.pop(mux_id, None)
        if ear is None or ear.epoch is None:
            return
        if ear.plane == "control":
            await self._means.outputs.end(ear, ended_by)
        else:
            ear.ends_by, ear.leaving_since = ended_by, self._monotonic()
            self._leaving[ear.epoch.id] = ear

    async def leave_all(self, ended_by: EpochEnd) -> None:
        for mux_id in list(self._ears):
            await self.leave(mux_id, ended_by)

    @property
    def is_quiet(self) -> bool:
        """Whether no pane's last bytes are awaited."""
        return not self._leaving

    async def step(self) -> None:
        """Open what can be opened, give up what takes too long."""
        now = self._monotonic()
        for ear in [*self._leaving.values(), *self._ears.values()]:
            await self._settle(ear, now)
        for ear in list(self._ears.values()):
            if ear.plane == "control" and not self._is_rightly_heard(ear):
                await self._lose(ear)
            if ear.unheld_since is not None and now - ear.unheld_since > HELD_WITHIN:
                await self._never_held(ear)
            if self._is_due(ear, now):
                await self._listen(ear)
        await self._judge()

    async def over(self) -> None:
        """These panes are nobody's worry any more."""
        await self._means.epochs.chronicle.all_clear(self._about)

    @property
    def _about(self) -> str:
        """The name of our alert."""
        return f"panes:{self.server.instance.socket}"

    async def _judge(self) -> None:
        """Panes that are given a rest after too many failures are shown until they are heard again."""
        chronicle = self._means.epochs.chronicle
        if held := [str(ear.pane) for ear in self._ears.values() if ear.backoff.is_held]:
            what = f"listening to {'pane' if len(held) == 1 else 'panes'} {', '.join(held[:8])} keeps failing"
            await chronicle.alert(self._about, f"{what}; the next try is in five minutes (see `visor logs`)")
        else:
            await chronicle.all_clear(self._about)
        await self._judge_room(chronicle)

    async def _judge_room(self, chronicle: Chronicle) -> None:
        if why := self._means.recorder.room.why:
            what = f"the raw log cannot be written ({why}): what panes print is not kept until there is room"
            await chronicle.alert("room", what)
        else:
            await chronicle.all_clear("room")

    async def news(self, item: Held | Ended) -> None:
        if item.epoch in self._given_up:
            recorder = self._means.recorder
            (recorder.drop if isinstance(item, Held) else recorder.forget)(item.epoch)
        ear = self._by_epoch(item.epoch)
        if ear is None or ear.epoch is None:
            return
        if isinstance(item, Held):
            ear.unheld_since = None
            ear.backoff.worked()
            return
        ended_by = ear.ends_by or await self._why(ear, is_capped=item.is_capped)
        if ended_by == "pane_exited":
            ear.ends_by, ear.final_size, ear.leaving_since = ended_by, item.size, self._monotonic()
        else:
            await self._end(ear, ended_by, item.size)

    async def recorder_lost(self) -> None:
        """Every pipe that ended in the recorder is dead; they are opened anew as soon as there is a recorder again."""
        for ear in [*self._ears.values(), *self._leaving.values()]:
            if ear.plane == "pipe" and ear.epoch is not None:
                is_gone = ear.ends_by in ("pane_exited", "server_gone")
                await self._end(ear, "recorder_restart", self._means.epochs.size(ear.epoch))
                ear.may_replace = True
                if is_gone:
                    await self._means.epochs.over(ear.pane)

    async def output_notice(self, session_id: str, name: str, words: tuple[str, ...]) -> None:
        """A client that hears panes said that it lost one of them, or ended."""
        if name == "exit":
            for mux_id in self._means.outputs.lost(session_id):
                await self._lost_by_client(mux_id, "link_down")
        elif name == UNWRITABLE:
            await self._lost_by_client(words[0], "disk_full")
        elif name == "pause" and words:
            await self._lost_by_client(words[0], "client_paused")

    async def _lost_by_client(self, mux_id: str, ended_by: EpochEnd) -> None:
        ear = self._ears.get(MuxPaneId(mux_id))
        if ear is None or ear.plane != "control":
            return
        await self._means.outputs.end(ear, ended_by)
        if ended_by == "disk_full":
            self._means.recorder.room.lost(self._monotonic())
        elif ended_by != "client_paused":
            ear.retry_at = ear.backoff.failed(self._monotonic())

    async def stop(self, *, keep_pipes: bool) -> None:
        """Leave the panes as we found them; with ``keep_pipes`` the recorder goes on and a later daemon resumes."""
        for ear in list(self._ears.values()):
            if ear.plane == "control":
                await self._means.outputs.end(ear, "link_down")
            elif ear.epoch is not None and not keep_pipes:
                is_ours = ear.unheld_since is not None or self._is_held(ear.epoch)
                await self.leave(ear.mux_id, "stopped")
                if is_ours:
                    await self._quietly_close(ear.mux_id)
        await self._means.outputs.close()
        self._ears.clear()

    async def abandon(self) -> None:
        """Close our control clients; every epoch they wrote stays open until somebody says how it ended."""
        await self._means.outputs.close()

    def _is_due(self, ear: Ear, now: float) -> bool:
        if ear.is_dead or now < ear.retry_at or not self._means.recorder.is_connected:
            return False
        if not self._means.recorder.room.is_there(now):
            return False
        if ear.plane == "control":
            return ear.wants_pipe
        if ear.epoch is not None:
            return False
        return not ear.wants_pipe or sum(e.unheld_since is not None for e in self._ears.values()) < _AT_ONCE

    async def _listen(self, ear: Ear) -> None:
        try:
            if ear.plane == "control":
                await self._join(ear)
            elif ear.wants_pipe:
                await self._pipe(ear)
            elif self.server.client.kind == "control" and self._may_attach(ear):
                await self._means.outputs.hear(ear, self.server, self._means.baseline_lines())
                ear.backoff.worked()
            else:
                await self._miss(ear, _NO_WAY)
        except MuxError as error:
            log.warning("pane %s could not be heard: %s", ear.pane, error)
            ear.retry_at = ear.backoff.failed(self._monotonic())
            await self._miss(ear, str(error))
        ear.is_missed = ear.is_missed and ear.epoch is None

    async def _miss(self, ear: Ear, why: str) -> None:
        if ear.epoch is None and not ear.is_missed and self.is_server_alive:
            ear.is_missed = True
            await self._means.epochs.unheard(ear.pane, why)

    def _may_attach(self, ear: Ear) -> bool:
        """Where a session, or the server, ends with its last client, ours must not be one."""
        return not (ear.ends_unattached or self.server.exits_unattached)

    def _is_rightly_heard(self, ear: Ear) -> bool:
        return self._may_attach(ear) and self._means.outputs.follows(ear)

    async def _lose(self, ear: Ear) -> None:
        """Its control client must leave, or the pane moved away from it, some time after its last byte."""
        since = None if ear.epoch is None else self._means.epochs.last_at(ear.epoch)
        await self._means.outputs.end(ear, "link_down", since)

    async def _pipe(self, ear: Ear) -> None:
        epoch = await self._means.epochs.reserve(ear.pane, "pipe")
        command = self._means.recorder.handoff_command(ear.pane, epoch.id)
        try:
            seen = await self.server.open_pipe(
                ear.mux_id, command, lines=self._means.baseline_lines(), replace=ear.may_replace
            )
        except MuxError:
            await self._give_up(epoch)
            raise
        ear.may_replace = False
        if isinstance(seen, Capture):
            ear.epoch, ear.plane = await self._means.epochs.begin(epoch, seen), "pipe"
            ear.is_piped, ear.unheld_since = True, self._monotonic()
        else:
            await self._means.epochs.end(epoch, "joined", 0)
            ear.is_piped = seen == "piped"
            ear.is_dead = seen != "piped"

    async def _join(self, ear: Ear) -> None:
        epoch = await self._means.epochs.reserve(ear.pane, "pipe")
        command = self._means.recorder.handoff_command(ear.pane, epoch.id)
        try:
            is_joined = await self._means.outputs.join(ear, epoch, self.server, command)
        except MuxError:
            await self._give_up(epoch)
            raise
        ear.is_piped = True
        if is_joined:
            ear.unheld_since = self._monotonic()
        else:
            await self._means.epochs.end(epoch, "joined", 0)

    async def _give_up(self, epoch: Epoch) -> None:
        """The server did not say whether it opened this pipe: nothing is heard, and if it comes it is closed."""
        self._given_up.add(epoch.id)
        self._means.recorder.drop(epoch.id)
        await self._means.epochs.end(epoch, "joined", 0)

    async def _settle(self, ear: Ear, now: float) -> None:
        """An end is told once it is certain; a pipe whose end does not come is closed by us."""
        if ear.leaving_since is None or ear.epoch is None:
            return
        if ear.final_size is not None and now - ear.leaving_since > DOUBT_FOR:
            is_exit = ear.ends_by == "pane_exited" and self.is_server_alive
            await self._end(ear, "pane_exited" if is_exit else "server_gone", ear.final_size)
        elif ear.final_size is None and now - ear.leaving_since > EOF_WITHIN:
            if self._is_held(ear.epoch):
                self._means.recorder.drop(ear.epoch.id)
            else:
                self._given_up.add(ear.epoch.id)
                await self._end(ear, ear.ends_by or "pane_exited", self._means.epochs.size(ear.epoch))

    async def _never_held(self, ear: Ear) -> None:
        """The helper did not reach the recorder: the pane's pipe is closed again and nothing was heard."""
        if ear.epoch is not None:
            self._given_up.add(ear.epoch.id)
            await self._end(ear, "recorder_restart", 0, "the pipe's helper did not reach the recorder")
        ear.retry_at = ear.backoff.failed(self._monotonic())

    async def _resume(self, ear: Ear, epoch: Epoch) -> None:
        """Go on where an earlier daemon stopped, or say how its epoch ended."""
        epochs, stream = self._means.epochs, self._means.recorder.streams.get(epoch.id)
        if not await epochs.resume(epoch, is_held=stream is not None):
            await epochs.end(epoch, "joined", 0)
            return
        ear.epoch, ear.plane = epoch, "pipe"
        if stream is None:
            ended_by: EpochEnd = "link_down" if epoch.source == "control" else "recorder_restart"
            await self._end(ear, ended_by, epochs.size(epoch), since=epochs.last_at(epoch))
        elif epochs.size(epoch) < epoch.committed:
            await self._truncated(ear, epoch)
        elif stream.state != "open":
            await self.news(Ended(epoch.id, stream.size, stream.state == "capped"))

    async def _truncated(self, ear: Ear, epoch: Epoch) -> None:
        """Somebody cut the log below what was made of it: what is appended there has no true offset any more."""
        self._given_up.add(epoch.id)
        self._means.recorder.drop(epoch.id)
        detail = f"the raw log is shorter than the {epoch.committed} bytes that were read of it"
        await self._end(ear, "log_truncated", epoch.committed, detail)
        ear.may_replace = True

    async def _end(self, ear: Ear, ended_by: EpochEnd, size: int, detail: str = "", since: int | None = None) -> None:
        epoch, ear.epoch, ear.plane = ear.epoch, None, "none"
        ear.unheld_since = ear.leaving_since = ear.ends_by = ear.final_size = None
        if epoch is None:
            return
        self._leaving.pop(epoch.id, None)
        if ended_by == "disk_full":
            self._means.recorder.room.lost(self._monotonic())
        ear.is_foreign = ear.is_foreign or ended_by in ("pipe_stolen", "pipe_closed")
        ear.is_dead = ear.is_dead or ended_by == "pane_exited"
        await self._means.epochs.end(epoch, ended_by, size, detail, since)
        self._means.recorder.forget(epoch.id)

    async def _why(self, ear: Ear, *, is_capped: bool) -> EpochEnd:
        pane: Thin | None = None
        try:
            pane = (await self.server.thin()).get(ear.mux_id)
            is_alive = True
        except MuxError:
            is_alive = self.is_server_alive
        if pane is not None:
            ear.is_piped, ear.is_dead = pane.piped, pane.dead
        return why_ended(is_capped=is_capped, is_server_alive=is_alive, pane=pane)

    @property
    def is_server_alive(self) -> bool:
        instance = self.server.instance
        return started(instance.pid) == instance.started

    async def _quietly_close(self, mux_id: MuxPaneId) -> None:
        try:
            await self.server.close_pipe(mux_id)
        except MuxError as error:
            log.info("pipe of %s was not closed: %s", mux_id, error)

    def _is_held(self, epoch: Epoch) -> bool:
        """Whether the recorder reads this epoch's pipe, as far as it told."""
        stream = self._means.recorder.streams.get(epoch.id)
        return stream is not None and stream.state == "open"

    def _by_epoch(self, epoch: EpochId) -> Ear | None:
        if epoch in self._leaving:
            return self._leaving[epoch]
        return next((ear for ear in self._ears.values() if ear.epoch is not None and ear.epoch.id == epoch), None)

    def _monotonic(self) -> float:
        return self._means.epochs.clock.monotonic()
