"""Take the output of captured panes from backends (`CaptureSink`) and write what the recorder does not read itself.

In: bytes from any thread, or screens. Out: the same kind of segments as the recorder's, and growth to the pipeline.
Invariant: an epoch that was closed here gets no more bytes.
"""

import asyncio
import contextlib
from collections.abc import Callable
from threading import Lock

from msgspec import Struct, field

from termvisor.backends.capture_sink import ScreenProof, StreamHandoff
from termvisor.backends.pane_source import CaptureLost, PaneCapture
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.recorder_client import RecorderClient
from termvisor.capture.screen_follower import ScreenFollower
from termvisor.capture.stream_handoff import hold_stream
from termvisor.log import get_logger
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd
from termvisor.recorder.segment_log import FLAG_ENDED, SegmentWriter

log = get_logger("capture.sink")


class _WrittenEpoch(Struct):
    """The log of one epoch. ``screens`` follow a pane whose screens are added."""

    writer: SegmentWriter
    screens: ScreenFollower = field(default_factory=ScreenFollower)
    is_unwritable: bool = False


class SegmentSink:
    """The sink of one server's captures. ``report`` takes the epochs whose log cannot be written."""

    def __init__(
        self,
        epochs: EpochLifecycle,
        recorder: RecorderClient,
        *,
        segment_bytes: int,
        report: Callable[[CaptureLost], None],
    ):
        self._epochs, self._recorder = epochs, recorder
        self._segment_bytes, self._report = segment_bytes, report
        self._written: dict[EpochId, _WrittenEpoch] = {}
        # The event loop opens and closes epochs while other threads append.
        self._lock = Lock()
        self._loop = asyncio.get_running_loop()

    def plan_handoff(self, pane: PaneId, epoch: EpochId) -> StreamHandoff:
        return self._recorder.plan_handoff(pane, epoch)

    def hold_stream(self, pane: PaneId, epoch: EpochId, descriptor: int) -> None:
        hold_stream(self._recorder.plan_handoff(pane, epoch), descriptor)

    def open_epoch(self, epoch: Epoch) -> None:
        """Prepare the log of an epoch whose bytes or screens are to arrive here."""
        writer = SegmentWriter(self._epochs.pipeline.build_folder_path(epoch), self._segment_bytes)
        with self._lock:
            self._written[epoch.id] = _WrittenEpoch(writer)

    def is_open(self, epoch: EpochId) -> bool:
        """Return True if the log of this epoch is written here."""
        return epoch in self._written

    def append(self, epoch: EpochId, data: bytes, at: int = 0) -> bool:
        with self._lock:
            written = self._written.get(epoch)
            return written is not None and self._append(epoch, written, data, at or self._epochs.clock.now())

    def add_screen(self, epoch: EpochId, capture: PaneCapture) -> ScreenProof:
        with self._lock:
            written = self._written.get(epoch)
            if written is None:
                return "continued"
            if capture.alternate:
                # A full-screen program repaints: its rows are sampled, they are no output.
                written.screens.begin_behind_alternate()
                return "continued"
            text = written.screens.follow(capture)
            if text:
                data = text.encode("utf-8", "surrogateescape")
                self._append(epoch, written, data, self._epochs.clock.now())
            return "unproven" if text is None else "continued"

    def _append(self, epoch: EpochId, written: _WrittenEpoch, data: bytes, at: int) -> bool:
        if written.is_unwritable:
            return False
        try:
            written.writer.append(data, at)
        except OSError as error:
            # Usually a full disk: stop capturing this pane, but continue with the others.
            log.error("cannot write epoch %s: %s", epoch, error)
            written.is_unwritable = True
            self._loop.call_soon_threadsafe(self._report, CaptureLost(epoch, "disk_full"))
            return False
        self._loop.call_soon_threadsafe(self._epochs.pipeline.note_growth, epoch, written.writer.offset)
        return True

    async def close_epoch(self, epoch: Epoch, ended_by: EpochEnd) -> None:
        """End an epoch whose log is written here. Its log ends at its last byte, because nothing shows until when the
        backend still received.

        Only if another capture takes over does it end now.
        """
        with self._lock:
            written = self._written.pop(epoch.id, None)
        if written is None:
            return
        writer = written.writer
        end_at = self._epochs.clock.now() if ended_by == "joined" else writer.last_at or epoch.opened_at
        # The disk may be full even for the end record.
        with contextlib.suppress(OSError):
            writer.write_end(FLAG_ENDED, end_at)
        writer.close()
        await self._epochs.end_epoch(epoch, ended_by, writer.offset)
