"""How all panes of one server are heard: opens pipes, notices who closed them and why, falls back, and comes back.

Runs inside its server's watch, one step after the other; the recorder's news reach it through `news`.
"""

from collections.abc import Callable

from msgspec import Struct

from termvisor.backends.pane_source import PaneCapture, PaneStatus
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.capture.control_mode_capture import UNWRITABLE_NOTICE, ControlModeCapture
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.event_log import EventLog
from termvisor.capture.pane_capture_state import (
    END_CONFIRMATION_DELAY_S,
    EOF_TIMEOUT_S,
    HANDOFF_TIMEOUT_S,
    PaneCaptureState,
    classify_pipe_end,
)
from termvisor.capture.recorder_client import RecorderClient, StreamEnded, StreamOpened
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd
from termvisor.model.terminal.pane import PaneFacts
from termvisor.system.process_start import read_start_time

_MAX_PENDING_PIPES = 8
"""Helpers on their way to the recorder; each is a short Python process."""
_NO_CAPTURE_METHOD = "its pipe is somebody else's, and no control client may listen here"

log = get_logger("ears")


class PaneCaptureDependencies(Struct):
    """What listening needs of the world."""

    epochs: EpochLifecycle
    recorder: RecorderClient
    control_capture: ControlModeCapture
    resumable_epochs: dict[PaneId, list[Epoch]]
    """Epochs that an earlier daemon left open, oldest first; each is resumed or closed once."""
    baseline_lines: Callable[[], int] = lambda: 2000


class PaneCaptureController:
    def __init__(self, dependencies: PaneCaptureDependencies, server: TmuxServer):
        self._dependencies, self.server = dependencies, server
        self._panes_by_id: dict[MuxPaneId, PaneCaptureState] = {}
        self._draining_by_epoch: dict[EpochId, PaneCaptureState] = {}
        self._abandoned_epochs: set[EpochId] = set()
        """Epochs whose helper may still reach the recorder, though nobody listens to them."""

    def find_pane(self, mux_id: MuxPaneId) -> PaneCaptureState | None:
        return self._panes_by_id.get(mux_id)

    async def adopt_pane(self, pane: PaneId, facts: PaneFacts) -> None:
        """A pane is there, seen for the first time by this daemon."""
        gaps = await self._dependencies.epochs.store.output.list_gaps(pane=pane)
        is_foreign = any(gap.cause in ("pipe_stolen", "pipe_closed") for gap in gaps)
        ear = PaneCaptureState(pane, facts.mux_id, facts.session_id, is_pipe_foreign=is_foreign)
        ear.update_facts(facts)
        self._panes_by_id[facts.mux_id] = ear
        for epoch in self._dependencies.resumable_epochs.pop(pane, []):
            await self._resume_epoch(ear, epoch)

    def update_facts(self, facts: PaneFacts) -> None:
        if ear := self._panes_by_id.get(facts.mux_id):
            ear.update_facts(facts)

    async def release_pane(self, mux_id: MuxPaneId, ended_by: EpochEnd = "pane_exited") -> None:
        """A pane is gone. The end of its bytes is still on its way from the recorder."""
        ear = self._panes_by_id.pop(mux_id, None)
        if ear is None or ear.epoch is None:
            return
        if ear.data_plane == "control":
            await self._dependencies.control_capture.end_capture(ear, ended_by)
        else:
            ear.end_cause, ear.draining_since = ended_by, self._monotonic()
            self._draining_by_epoch[ear.epoch.id] = ear

    async def release_all(self, ended_by: EpochEnd) -> None:
        for mux_id in list(self._panes_by_id):
            await self.release_pane(mux_id, ended_by)

    @property
    def is_drained(self) -> bool:
        """Whether no pane's last bytes are awaited."""
        return not self._draining_by_epoch

    async def run_step(self) -> None:
        """Open what can be opened, give up what takes too long."""
        now = self._monotonic()
        for ear in [*self._draining_by_epoch.values(), *self._panes_by_id.values()]:
            await self._settle_end(ear, now)
        for ear in list(self._panes_by_id.values()):
            if ear.data_plane == "control" and not self._is_control_capture_valid(ear):
                await self._drop_control_capture(ear)
            if ear.handoff_pending_since is not None and now - ear.handoff_pending_since > HANDOFF_TIMEOUT_S:
                await self._handle_handoff_timeout(ear)
            if self._is_due(ear, now):
                await self._start_capture(ear)
        await self._update_alerts()

    async def clear_alert(self) -> None:
        """These panes are nobody's worry any more."""
        await self._dependencies.epochs.event_log.clear_alert(self._alert_key)

    @property
    def _alert_key(self) -> str:
        """The name of our alert."""
        return f"panes:{self.server.instance.socket}"

    async def _update_alerts(self) -> None:
        """Panes that are given a rest after too many failures are shown until they are heard again."""
        chronicle = self._dependencies.epochs.event_log
        if held := [str(ear.pane) for ear in self._panes_by_id.values() if ear.backoff.is_held_down]:
            what = f"listening to {'pane' if len(held) == 1 else 'panes'} {', '.join(held[:8])} keeps failing"
            await chronicle.raise_alert(self._alert_key, f"{what}; the next try is in five minutes (see `visor logs`)")
        else:
            await chronicle.clear_alert(self._alert_key)
        await self._update_disk_space_alert(chronicle)

    async def _update_disk_space_alert(self, event_log: EventLog) -> None:
        if why := self._dependencies.recorder.disk_space.write_error:
            what = f"the raw log cannot be written ({why}): what panes print is not kept until there is room"
            await event_log.raise_alert("room", what)
        else:
            await event_log.clear_alert("room")

    async def handle_stream_update(self, update: StreamOpened | StreamEnded) -> None:
        if update.epoch in self._abandoned_epochs:
            recorder = self._dependencies.recorder
            (recorder.drop_stream if isinstance(update, StreamOpened) else recorder.forget_stream)(update.epoch)
        ear = self._find_by_epoch(update.epoch)
        if ear is None or ear.epoch is None:
            return
        if isinstance(update, StreamOpened):
            ear.handoff_pending_since = None
            ear.backoff.record_success()
            return
        ended_by = ear.end_cause or await self._find_end_cause(ear, is_capped=update.is_capped)
        if ended_by == "pane_exited":
            ear.end_cause, ear.final_size, ear.draining_since = ended_by, update.size, self._monotonic()
        else:
            await self._end_epoch(ear, ended_by, update.size)

    async def handle_recorder_death(self) -> None:
        """Every pipe that ended in the recorder is dead; they are opened anew as soon as there is a recorder again."""
        for ear in [*self._panes_by_id.values(), *self._draining_by_epoch.values()]:
            if ear.data_plane == "pipe" and ear.epoch is not None:
                is_gone = ear.end_cause in ("pane_exited", "server_gone")
                await self._end_epoch(ear, "recorder_restart", self._dependencies.epochs.measure_size(ear.epoch))
                ear.can_replace_pipe = True
                if is_gone:
                    await self._dependencies.epochs.end_all_gaps(ear.pane)

    async def handle_control_notice(self, session_id: str, name: str, arguments: tuple[str, ...]) -> None:
        """A client that hears panes said that it lost one of them, or ended."""
        if name == "exit":
            for mux_id in self._dependencies.control_capture.pop_ended_client(session_id):
                await self._end_control_capture(mux_id, "link_down")
        elif name == UNWRITABLE_NOTICE:
            await self._end_control_capture(arguments[0], "disk_full")
        elif name == "pause" and arguments:
            await self._end_control_capture(arguments[0], "client_paused")

    async def _end_control_capture(self, mux_id: str, ended_by: EpochEnd) -> None:
        ear = self._panes_by_id.get(MuxPaneId(mux_id))
        if ear is None or ear.data_plane != "control":
            return
        await self._dependencies.control_capture.end_capture(ear, ended_by)
        if ended_by == "disk_full":
            self._dependencies.recorder.disk_space.report_write_failure(self._monotonic())
        elif ended_by != "client_paused":
            ear.retry_at = ear.backoff.record_failure(self._monotonic())

    async def stop(self, *, keep_pipes: bool) -> None:
        """Leave the panes as we found them; with ``keep_pipes`` the recorder goes on and a later daemon resumes."""
        for ear in list(self._panes_by_id.values()):
            if ear.data_plane == "control":
                await self._dependencies.control_capture.end_capture(ear, "link_down")
            elif ear.epoch is not None and not keep_pipes:
                is_ours = ear.handoff_pending_since is not None or self._is_stream_open(ear.epoch)
                await self.release_pane(ear.mux_id, "stopped")
                if is_ours:
                    await self._close_pipe_quietly(ear.mux_id)
        await self._dependencies.control_capture.close_clients()
        self._panes_by_id.clear()

    async def abandon_captures(self) -> None:
        """Close our control clients; every epoch they wrote stays open until somebody says how it ended."""
        await self._dependencies.control_capture.close_clients()

    def _is_due(self, state: PaneCaptureState, now: float) -> bool:
        if state.is_dead or now < state.retry_at or not self._dependencies.recorder.is_connected:
            return False
        if not self._dependencies.recorder.disk_space.has_space(now):
            return False
        if state.data_plane == "control":
            return state.needs_pipe
        if state.epoch is not None:
            return False
        return (
            not state.needs_pipe
            or sum(e.handoff_pending_since is not None for e in self._panes_by_id.values()) < _MAX_PENDING_PIPES
        )

    async def _start_capture(self, state: PaneCaptureState) -> None:
        try:
            if state.data_plane == "control":
                await self._switch_to_pipe(state)
            elif state.needs_pipe:
                await self._open_pipe(state)
            elif self.server.client.kind == "control" and self._can_attach(state):
                await self._dependencies.control_capture.start_capture(
                    state, self.server, self._dependencies.baseline_lines()
                )
                state.backoff.record_success()
            else:
                await self._record_missed(state, _NO_CAPTURE_METHOD)
        except MuxError as error:
            log.warning("pane %s could not be heard: %s", state.pane, error)
            state.retry_at = state.backoff.record_failure(self._monotonic())
            await self._record_missed(state, str(error))
        state.is_miss_recorded = state.is_miss_recorded and state.epoch is None

    async def _record_missed(self, state: PaneCaptureState, reason: str) -> None:
        if state.epoch is None and not state.is_miss_recorded and self.is_server_alive:
            state.is_miss_recorded = True
            await self._dependencies.epochs.record_missed(state.pane, reason)

    def _can_attach(self, state: PaneCaptureState) -> bool:
        """Where a session, or the server, ends with its last client, ours must not be one."""
        return not (state.ends_unattached or self.server.exits_unattached)

    def _is_control_capture_valid(self, state: PaneCaptureState) -> bool:
        return self._can_attach(state) and self._dependencies.control_capture.is_following(state)

    async def _drop_control_capture(self, state: PaneCaptureState) -> None:
        """Its control client must leave, or the pane moved away from it, some time after its last byte."""
        since = None if state.epoch is None else self._dependencies.epochs.find_last_byte_time(state.epoch)
        await self._dependencies.control_capture.end_capture(state, "link_down", since)

    async def _open_pipe(self, state: PaneCaptureState) -> None:
        epoch = await self._dependencies.epochs.reserve_epoch(state.pane, "pipe")
        command = self._dependencies.recorder.build_handoff_command(state.pane, epoch.id)
        try:
            seen = await self.server.open_pipe(
                state.mux_id, command, lines=self._dependencies.baseline_lines(), replace=state.can_replace_pipe
            )
        except MuxError:
            await self._abandon_epoch(epoch)
            raise
        state.can_replace_pipe = False
        if isinstance(seen, PaneCapture):
            state.epoch, state.data_plane = await self._dependencies.epochs.begin_epoch(epoch, seen), "pipe"
            state.is_piped, state.handoff_pending_since = True, self._monotonic()
        else:
            await self._dependencies.epochs.end_epoch(epoch, "joined", 0)
            state.is_piped = seen == "piped"
            state.is_dead = seen != "piped"

    async def _switch_to_pipe(self, state: PaneCaptureState) -> None:
        epoch = await self._dependencies.epochs.reserve_epoch(state.pane, "pipe")
        command = self._dependencies.recorder.build_handoff_command(state.pane, epoch.id)
        try:
            is_joined = await self._dependencies.control_capture.switch_to_pipe(state, epoch, self.server, command)
        except MuxError:
            await self._abandon_epoch(epoch)
            raise
        state.is_piped = True
        if is_joined:
            state.handoff_pending_since = self._monotonic()
        else:
            await self._dependencies.epochs.end_epoch(epoch, "joined", 0)

    async def _abandon_epoch(self, epoch: Epoch) -> None:
        """The server did not say whether it opened this pipe: nothing is heard, and if it comes it is closed."""
        self._abandoned_epochs.add(epoch.id)
        self._dependencies.recorder.drop_stream(epoch.id)
        await self._dependencies.epochs.end_epoch(epoch, "joined", 0)

    async def _settle_end(self, state: PaneCaptureState, now: float) -> None:
        """An end is told once it is certain; a pipe whose end does not come is closed by us."""
        if state.draining_since is None or state.epoch is None:
            return
        if state.final_size is not None and now - state.draining_since > END_CONFIRMATION_DELAY_S:
            is_exit = state.end_cause == "pane_exited" and self.is_server_alive
            await self._end_epoch(state, "pane_exited" if is_exit else "server_gone", state.final_size)
        elif state.final_size is None and now - state.draining_since > EOF_TIMEOUT_S:
            if self._is_stream_open(state.epoch):
                self._dependencies.recorder.drop_stream(state.epoch.id)
            else:
                self._abandoned_epochs.add(state.epoch.id)
                await self._end_epoch(
                    state, state.end_cause or "pane_exited", self._dependencies.epochs.measure_size(state.epoch)
                )

    async def _handle_handoff_timeout(self, state: PaneCaptureState) -> None:
        """The helper did not reach the recorder: the pane's pipe is closed again and nothing was heard."""
        if state.epoch is not None:
            self._abandoned_epochs.add(state.epoch.id)
            await self._end_epoch(state, "recorder_restart", 0, "the pipe's helper did not reach the recorder")
        state.retry_at = state.backoff.record_failure(self._monotonic())

    async def _resume_epoch(self, state: PaneCaptureState, epoch: Epoch) -> None:
        """Go on where an earlier daemon stopped, or say how its epoch ended."""
        epochs, stream = self._dependencies.epochs, self._dependencies.recorder.streams.get(epoch.id)
        if not await epochs.resume_epoch(epoch, is_stream_open=stream is not None):
            await epochs.end_epoch(epoch, "joined", 0)
            return
        state.epoch, state.data_plane = epoch, "pipe"
        if stream is None:
            ended_by: EpochEnd = "link_down" if epoch.source == "control" else "recorder_restart"
            await self._end_epoch(
                state, ended_by, epochs.measure_size(epoch), missed_since=epochs.find_last_byte_time(epoch)
            )
        elif epochs.measure_size(epoch) < epoch.committed:
            await self._handle_truncated_log(state, epoch)
        elif stream.state != "open":
            await self.handle_stream_update(StreamEnded(epoch.id, stream.size, stream.state == "capped"))

    async def _handle_truncated_log(self, state: PaneCaptureState, epoch: Epoch) -> None:
        """Somebody cut the log below what was made of it: what is appended there has no true offset any more."""
        self._abandoned_epochs.add(epoch.id)
        self._dependencies.recorder.drop_stream(epoch.id)
        detail = f"the raw log is shorter than the {epoch.committed} bytes that were read of it"
        await self._end_epoch(state, "log_truncated", epoch.committed, detail)
        state.can_replace_pipe = True

    async def _end_epoch(
        self, state: PaneCaptureState, ended_by: EpochEnd, size: int, detail: str = "", missed_since: int | None = None
    ) -> None:
        epoch, state.epoch, state.data_plane = state.epoch, None, "none"
        state.handoff_pending_since = state.draining_since = state.end_cause = state.final_size = None
        if epoch is None:
            return
        self._draining_by_epoch.pop(epoch.id, None)
        if ended_by == "disk_full":
            self._dependencies.recorder.disk_space.report_write_failure(self._monotonic())
        state.is_pipe_foreign = state.is_pipe_foreign or ended_by in ("pipe_stolen", "pipe_closed")
        state.is_dead = state.is_dead or ended_by == "pane_exited"
        await self._dependencies.epochs.end_epoch(epoch, ended_by, size, detail, missed_since)
        self._dependencies.recorder.forget_stream(epoch.id)

    async def _find_end_cause(self, state: PaneCaptureState, *, is_capped: bool) -> EpochEnd:
        pane: PaneStatus | None = None
        try:
            pane = (await self.server.list_pane_statuses()).get(state.mux_id)
            is_alive = True
        except MuxError:
            is_alive = self.is_server_alive
        if pane is not None:
            state.is_piped, state.is_dead = pane.piped, pane.dead
        return classify_pipe_end(is_capped=is_capped, is_server_alive=is_alive, pane_status=pane)

    @property
    def is_server_alive(self) -> bool:
        instance = self.server.instance
        return read_start_time(instance.pid) == instance.started

    async def _close_pipe_quietly(self, mux_id: MuxPaneId) -> None:
        try:
            await self.server.close_pipe(mux_id)
        except MuxError as error:
            log.info("pipe of %s was not closed: %s", mux_id, error)

    def _is_stream_open(self, epoch: Epoch) -> bool:
        """Whether the recorder reads this epoch's pipe, as far as it told."""
        stream = self._dependencies.recorder.streams.get(epoch.id)
        return stream is not None and stream.state == "open"

    def _find_by_epoch(self, epoch: EpochId) -> PaneCaptureState | None:
        if epoch in self._draining_by_epoch:
            return self._draining_by_epoch[epoch]
        return next(
            (ear for ear in self._panes_by_id.values() if ear.epoch is not None and ear.epoch.id == epoch), None
        )

    def _monotonic(self) -> float:
        return self._dependencies.epochs.clock.monotonic()
