"""Capture the output of all panes of one server: start captures, classify why they ended, fall back, retry.

Runs inside the task of its ServerWatcher, so its methods never run concurrently.
"""

from collections.abc import Callable
from typing import Literal

from termvisor.backends.pane_source import CaptureLost, PaneSource, PaneStatus, StartedCapture
from termvisor.capture.capture_alerts import CaptureAlerts
from termvisor.capture.epochs import EpochLifecycle, find_gap_cause
from termvisor.capture.pane_capture_state import (
    CAUSE_BY_STREAM_STATE,
    END_CONFIRMATION_DELAY_S,
    EOF_TIMEOUT_S,
    HANDOFF_TIMEOUT_S,
    PaneCaptureState,
    classify_pipe_end,
)
from termvisor.capture.recorder_client import RecordedStream, RecorderClient, StreamState
from termvisor.capture.segment_sink import SegmentSink
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd, GapCause
from termvisor.model.terminal.pane import CaptureChannel, PaneFacts
from termvisor.system.concurrency import run_concurrently

# Maximum number of pipe hand-offs in progress, each of which may be a short-lived Python process.
_MAX_PENDING_PIPES = 16
# Maximum number of pipes opened at once, so that a step stays short.
_MAX_OPENED_PIPES = 4
_NO_CAPTURE_METHOD = "another program uses its pipe, and a control client cannot attach to its session"
_NO_HANDOFF = "the pipe did not reach the recorder"

log = get_logger("capture.panes")


class PaneCaptureController:
    """Keeps each pane captured by the best channel that its server offers for it now, if there is one.

    ``resumable_epochs`` are the epochs an earlier daemon left open, oldest first; each is resumed or closed once.
    """

    def __init__(
        self,
        server: PaneSource,
        *,
        epochs: EpochLifecycle,
        recorder: RecorderClient,
        sink: SegmentSink,
        resumable_epochs: dict[PaneId, list[Epoch]],
        get_baseline_lines: Callable[[], int],
        is_server_alive: Callable[[], bool],
    ):
        self.server, self._epochs, self._recorder = server, epochs, recorder
        self._sink, self._resumable_epochs = sink, resumable_epochs
        self._get_baseline_lines, self._is_server_alive = get_baseline_lines, is_server_alive
        self.alerts = CaptureAlerts(server.instance.key, epochs.event_log, recorder.disk_space)
        self._panes_by_id: dict[MuxPaneId, PaneCaptureState] = {}
        self._draining_by_epoch: dict[EpochId, PaneCaptureState] = {}
        self._abandoned_epochs: set[EpochId] = set()
        """Ended epochs whose pipe may still reach the recorder and is dropped if it does."""

    def find_pane(self, mux_id: MuxPaneId) -> PaneCaptureState | None:
        return self._panes_by_id.get(mux_id)

    def describe_capture(self, mux_id: MuxPaneId) -> tuple[CaptureChannel, GapCause | None]:
        """Return the channel by which a pane is captured now, and why it is not if it was captured before."""
        state = self._panes_by_id.get(mux_id)
        if state is None:
            return "none", None
        # What the recorder reports counts, even if the end of the epoch cannot be stored yet.
        stream = self._recorder.streams.get(state.epoch.id) if state.epoch and state.is_recorded else None
        return state.describe_capture(stream.state if stream else "open")

    async def adopt_pane(self, pane: PaneId, facts: PaneFacts) -> None:
        """Add a pane that this daemon sees for the first time and resume its open epochs.

        A respawned pane still has the pipe of its previous instance, which is replaced if it is ours.
        """
        previous = [state for state in self._draining_by_epoch.values() if state.mux_id == facts.mux_id]
        state = PaneCaptureState(
            pane,
            facts.mux_id,
            is_respawned=bool(previous),
            can_replace_pipe=any(state.final_size is None for state in previous),
        )
        state.update_facts(facts)
        state.note_earlier_gaps(await self._epochs.store.output.list_gaps(pane=pane), self._monotonic())
        self._panes_by_id[facts.mux_id] = state
        for epoch in self._resumable_epochs.pop(pane, []):
            await self._resume_epoch(state, epoch)
        # The pane may have been resized while no daemon was running.
        self._epochs.pipeline.resize_pane(pane, facts.width, facts.height)

    def update_facts(self, facts: PaneFacts) -> None:
        if state := self._panes_by_id.get(facts.mux_id):
            state.update_facts(facts)

    async def release_pane(self, mux_id: MuxPaneId, ended_by: EpochEnd = "pane_exited") -> None:
        """Stop capturing a pane that is gone. A piped epoch ends when the recorder reports its last byte."""
        state = self._panes_by_id.pop(mux_id, None)
        if state is None:
            return
        if state.epoch is None:
            if ended_by == "pane_exited" and not (state.was_captured or state.is_miss_recorded):
                await self._epochs.record_uncaptured(state.pane, "it was closed before its capture started")
        elif not state.is_recorded:
            await self._end_written_epoch(state, ended_by)
        else:
            state.end_cause, state.draining_since = ended_by, self._monotonic()
            self._draining_by_epoch[state.epoch.id] = state

    async def release_all(self, ended_by: EpochEnd) -> None:
        for mux_id in list(self._panes_by_id):
            await self.release_pane(mux_id, ended_by)

    @property
    def is_drained(self) -> bool:
        """Return True if the last bytes of all released panes have arrived."""
        return not self._draining_by_epoch

    @property
    def is_settled(self) -> bool:
        """Return True if every pane is captured, or cannot be captured now."""
        return not self._recorder.is_connected or all(state.is_settled for state in self._panes_by_id.values())

    async def run_step(self) -> bool:
        """Start captures that are due, some pipes at once, and abandon those that timed out.

        Return True if more are due. They wait for the next step, because new panes are listed first.
        """
        now = self._monotonic()
        for state in [*self._draining_by_epoch.values(), *self._panes_by_id.values()]:
            await self._settle_end(state, now)
        pending = sum(each.handoff_pending_since is not None for each in self._panes_by_id.values())
        limit = min(_MAX_OPENED_PIPES, _MAX_PENDING_PIPES - pending)
        due_pipes: list[PaneCaptureState] = []
        for state in list(self._panes_by_id.values()):
            if state.handoff_pending_since is not None and now - state.handoff_pending_since > HANDOFF_TIMEOUT_S:
                await self._handle_handoff_timeout(state)
            if self._is_due(state, now):
                if state.epoch is None and state.needs_pipe:
                    due_pipes.append(state)
                else:
                    await self._start_capture(state)
        await run_concurrently(self._start_capture(state) for state in due_pipes[:limit])
        await self.alerts.update(self._panes_by_id.values(), now)
        return limit < min(len(due_pipes), _MAX_PENDING_PIPES - pending)

    async def handle_stream_update(self, stream: RecordedStream) -> None:
        """Handle a pipe that has reached the recorder or was closed."""
        is_open = stream.state == "open"
        if stream.epoch in self._abandoned_epochs:
            (self._recorder.drop_stream if is_open else self._recorder.forget_stream)(stream.epoch)
        state = self._find_by_epoch(stream.epoch)
        if state is None or state.epoch is None:
            return
        if is_open:
            state.handoff_pending_since = None
            state.backoff.record_success()
            state.note_captured()
            return
        is_gone = state.end_cause == "pane_exited"
        ended_by = CAUSE_BY_STREAM_STATE.get(stream.state) or state.end_cause
        ended_by = ended_by or await self._find_end_cause(state, stream.state)
        if ended_by == "pane_exited":
            # Or its server is being killed, so _settle_end checks again later.
            state.end_cause, state.final_size, state.draining_since = ended_by, stream.size, self._monotonic()
        else:
            await self._end_epoch(state, ended_by, stream.size)
            if is_gone:
                await self._epochs.end_all_gaps(state.pane)

    async def handle_recorder_death(self) -> None:
        """End every piped epoch; run_step opens the pipes again once a recorder is connected."""
        states = [*self._panes_by_id.values(), *self._draining_by_epoch.values()]
        # All at once, because each waits until its text is stored, which happens in batches.
        await run_concurrently(self._end_lost_pipe(state) for state in states if state.is_recorded)

    async def _end_lost_pipe(self, state: PaneCaptureState) -> None:
        if state.epoch is not None:
            is_gone = state.end_cause in ("pane_exited", "server_gone")
            state.can_replace_pipe = True
            await self._end_epoch(state, "recorder_restart", self._epochs.measure_size(state.epoch))
            if is_gone:
                await self._epochs.end_all_gaps(state.pane)

    async def handle_capture_lost(self, lost: CaptureLost) -> None:
        """Handle the end of a capture that the recorder does not report."""
        state = self._find_by_epoch(lost.epoch)
        if state is None or state.is_recorded:
            return
        await self._end_written_epoch(state, lost.ended_by)
        state.note_lost(find_gap_cause(lost.ended_by, saw_end=True), self._monotonic())
        if lost.ended_by == "disk_full":
            self._recorder.disk_space.report_write_failure(self._monotonic())
        elif lost.is_failure:
            state.retry_at = state.backoff.record_failure(self._monotonic())

    async def _end_written_epoch(self, state: PaneCaptureState, ended_by: EpochEnd) -> None:
        """Stop a capture whose log is written by the sink, and end its epoch."""
        epoch, state.epoch, state.data_plane = state.epoch, None, "none"
        if epoch is not None:
            await self._stop_capture(state.mux_id, epoch)
            await self._sink.close_epoch(epoch, ended_by)

    async def stop(self, *, keep_pipes: bool) -> None:
        """End all captures and close our pipes; with ``keep_pipes`` they stay open for the next daemon to resume."""
        for state in list(self._panes_by_id.values()):
            epoch = state.epoch
            if epoch is not None and not state.is_recorded:
                await self._end_written_epoch(state, "link_down")
            elif epoch is not None and not keep_pipes:
                is_ours = state.handoff_pending_since is not None or self._recorder.is_stream_open(epoch.id)
                await self.release_pane(state.mux_id, "stopped")
                if is_ours:
                    await self._stop_capture(state.mux_id, epoch)
        self._panes_by_id.clear()

    def _is_due(self, state: PaneCaptureState, now: float) -> bool:
        if state.is_dead or now < state.retry_at or not self._recorder.is_connected:
            return False
        if not self._recorder.disk_space.has_space(now):
            return False
        # Control mode is the last resort: it ends as soon as the pane's pipe is free.
        return state.epoch is None or (state.data_plane == "control" and state.needs_pipe)

    async def _start_capture(self, state: PaneCaptureState) -> None:
        try:
            channel = self.server.choose_channel(state.mux_id, can_pipe=state.needs_pipe)
            if channel == "none":
                await self._record_missed(state, _NO_CAPTURE_METHOD)
            elif channel == "pipe" or channel == "pty":  # noqa: PLR1714 (mypy narrows no other form)
                await self._start_recorded_capture(state, channel)
            else:
                await self._start_written_capture(state, channel)
        except MuxError as error:
            # One pane that cannot be captured must not stop the others; it is retried with backoff.
            log.warning("cannot capture pane %s: %s", state.pane, error)
            state.retry_at = state.backoff.record_failure(self._monotonic())
            await self._record_missed(state, str(error))
        state.is_miss_recorded = state.is_miss_recorded and state.epoch is None

    async def _record_missed(self, state: PaneCaptureState, reason: str) -> None:
        if state.epoch is None and not state.is_miss_recorded and self._is_server_alive():
            state.is_miss_recorded = True
            await self._epochs.record_missed(state.pane, reason)

    async def _start_recorded_capture(self, state: PaneCaptureState, channel: Literal["pipe", "pty"]) -> None:
        """Have the pane's stream handed to the recorder, also in place of a capture that is written here."""
        former, epoch = state.epoch, await self._epochs.reserve_epoch(state.pane, channel)
        # The scrollback of a respawned pane is the text of its previous instance, and what was captured is stored.
        lines = 0 if state.is_respawned or former is not None else self._get_baseline_lines()
        can_replace = state.can_replace_pipe and former is None
        try:
            started = await self.server.start_capture(state.mux_id, epoch, self._sink, lines=lines, replace=can_replace)
        except MuxError:
            # The stream may have been handed over although the answer was lost.
            await self._abandon_epoch(epoch)
            raise
        state.can_replace_pipe = state.is_respawned = False
        if isinstance(started, StartedCapture):
            if former is not None:
                await self._sink.close_epoch(former, "joined")
            state.epoch = await self._epochs.begin_epoch(epoch, started.capture, state.pid)
            state.data_plane, state.is_piped = started.data_plane, True
            if started.awaits_recorder:
                state.handoff_pending_since = self._monotonic()
        else:
            await self._epochs.end_epoch(epoch, "joined", 0)
            state.is_piped = started == "piped" or former is not None
            state.is_dead = started != "piped" and former is None

    async def _start_written_capture(self, state: PaneCaptureState, channel: Literal["control", "polled"]) -> None:
        """Begin an epoch whose output the server sends to our sink."""
        epoch = await self._epochs.reserve_epoch(state.pane, channel)
        self._sink.open_epoch(epoch)
        try:
            started = await self.server.start_capture(state.mux_id, epoch, self._sink, lines=self._get_baseline_lines())
        except MuxError:
            await self._sink.close_epoch(epoch, "joined")
            raise
        if not isinstance(started, StartedCapture):
            await self._sink.close_epoch(epoch, "joined")
            state.is_dead = started != "piped"
            return
        state.epoch = await self._epochs.begin_epoch(epoch, started.capture, state.pid)
        state.data_plane = started.data_plane
        state.backoff.record_success()
        state.note_captured()

    async def _abandon_epoch(self, epoch: Epoch) -> None:
        """End a reserved epoch whose stream may have been handed over after all. A late hand-off is dropped."""
        self._abandoned_epochs.add(epoch.id)
        self._recorder.drop_stream(epoch.id)
        await self._epochs.end_epoch(epoch, "joined", 0)

    async def _settle_end(self, state: PaneCaptureState, now: float) -> None:
        """End a draining epoch once the cause of its end is certain; drop its stream if no end of file arrives."""
        if state.draining_since is None or state.epoch is None:
            return
        if state.final_size is not None and now - state.draining_since > END_CONFIRMATION_DELAY_S:
            is_exit = state.end_cause == "pane_exited" and self._is_server_alive()
            await self._end_epoch(state, "pane_exited" if is_exit else "server_gone", state.final_size)
        elif state.final_size is None and now - state.draining_since > EOF_TIMEOUT_S:
            if self._recorder.is_stream_open(state.epoch.id):
                self._recorder.drop_stream(state.epoch.id)
            else:
                await self._end_undrained_epoch(state, state.epoch)

    async def _end_undrained_epoch(self, state: PaneCaptureState, epoch: Epoch) -> None:
        """End the epoch of a closed pane whose end of file the recorder never reported."""
        self._abandoned_epochs.add(epoch.id)
        ended_by, size = state.end_cause or "pane_exited", self._epochs.measure_size(epoch)
        if state.handoff_pending_since is None or size or ended_by != "pane_exited":
            await self._end_epoch(state, ended_by, size)
        else:
            # Not a byte of what it printed was captured, which is more than an uncertain tail.
            await self._end_epoch(state, "recorder_restart", 0, _NO_HANDOFF)
            await self._epochs.end_all_gaps(state.pane)

    async def _handle_handoff_timeout(self, state: PaneCaptureState) -> None:
        """End an epoch whose pipe never reached the recorder, and schedule a retry."""
        if state.epoch is not None:
            self._abandoned_epochs.add(state.epoch.id)
            cause: EpochEnd = "descriptors_exhausted" if self._recorder.is_starved else "recorder_restart"
            await self._end_epoch(state, cause, 0, _NO_HANDOFF)
        state.retry_at = state.backoff.record_failure(self._monotonic())

    async def _resume_epoch(self, state: PaneCaptureState, epoch: Epoch) -> None:
        """Continue an epoch that an earlier daemon left open, or end it if its stream is gone."""
        epochs, stream = self._epochs, self._recorder.streams.get(epoch.id)
        if not await epochs.resume_epoch(epoch, is_stream_open=stream is not None):
            await epochs.end_epoch(epoch, "joined", 0)
            return
        state.epoch, state.data_plane = epoch, "pipe" if epoch.source != "pty" else "pty"
        state.note_captured()
        if stream is None:
            ended_by: EpochEnd = "link_down" if epoch.source in ("control", "polled") else "recorder_restart"
            await self._end_epoch(state, ended_by, epochs.measure_size(epoch))
        elif lost := epochs.pipeline.count_lost_bytes(epoch.id):
            await self._handle_truncated_log(state, epoch, lost)
        elif stream.state != "open":
            await self.handle_stream_update(stream)

    async def _handle_truncated_log(self, state: PaneCaptureState, epoch: Epoch, lost: int) -> None:
        """End an epoch whose log is shorter than what was read from it: the offsets of new bytes would be wrong."""
        self._abandoned_epochs.add(epoch.id)
        self._recorder.drop_stream(epoch.id)
        detail = f"{lost} bytes that were already read are no longer in the raw log"
        await self._end_epoch(state, "log_truncated", self._epochs.measure_size(epoch), detail)
        state.can_replace_pipe = True

    async def _end_epoch(self, state: PaneCaptureState, ended_by: EpochEnd, size: int, detail: str = "") -> None:
        if (epoch := state.note_end(ended_by)) is None:
            return
        self._draining_by_epoch.pop(epoch.id, None)
        state.note_lost(find_gap_cause(ended_by, saw_end=True), self._monotonic())
        if ended_by == "disk_full":
            self._recorder.disk_space.report_write_failure(self._monotonic())
        elif ended_by == "descriptors_exhausted" or (epoch.source == "pty" and ended_by == "pipe_closed"):
            state.retry_at = state.backoff.record_failure(self._monotonic())
        await self._epochs.end_epoch(epoch, ended_by, size, detail)
        self._recorder.forget_stream(epoch.id)

    async def _find_end_cause(self, state: PaneCaptureState, stream_state: StreamState) -> EpochEnd:
        pane: PaneStatus | None = None
        try:
            pane = (await self.server.list_pane_statuses()).get(state.mux_id)
            is_alive = True
        except MuxError:
            # Either the server was killed or just our client is lost.
            is_alive = self._is_server_alive()
        if pane is not None:
            state.is_piped, state.is_dead = pane.piped, pane.dead
        return classify_pipe_end(stream_state, is_server_alive=is_alive, pane_status=pane)

    async def _stop_capture(self, mux_id: MuxPaneId, epoch: Epoch) -> None:
        if epoch.source == "pty":
            # The terminal stays open, so no end of file will come.
            self._recorder.drop_stream(epoch.id)
        try:
            await self.server.stop_capture(mux_id, epoch)
        except MuxError as error:
            # Continue: the pane or its server may be gone by now.
            log.info("cannot stop the capture of %s: %s", mux_id, error)

    def _find_by_epoch(self, epoch: EpochId) -> PaneCaptureState | None:
        states = (*self._draining_by_epoch.values(), *self._panes_by_id.values())
        return next((state for state in states if state.epoch is not None and state.epoch.id == epoch), None)

    def _monotonic(self) -> float:
        return self._epochs.clock.monotonic()
