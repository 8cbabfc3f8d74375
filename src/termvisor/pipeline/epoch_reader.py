"""Read one epoch's raw bytes, decode them to text and marks, redact them and cut them into blocks.

Lines are stored when they leave the screen; until then they are served from memory. Invariant: the output of
take_progress() is stored in one transaction with what was stored before it, and a snapshot of the decoder exists for
the offset in it. A restarted daemon loads that snapshot, decodes again what follows, and drops what is stored already.
"""

from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from termvisor.capture.screen_sampler import PaintActivity, RepaintDetector
from termvisor.clock import NS, Clock
from termvisor.model.event import Event
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta, Epoch, Gap, InitialLine, Mark
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.shell_state import RecordedShellState
from termvisor.pipeline.epoch_text import EpochText, TextCarry
from termvisor.pipeline.json_lines import JsonLineCollector
from termvisor.pipeline.rule_matcher import LineScanner, LineScanState, RuleMatch, RuleMatcher
from termvisor.pipeline.window_files import WindowFiles
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import SeenSecrets, redact
from termvisor.redaction.raw_bytes import PaintedSecretLearner
from termvisor.store import EpochUpdate
from termvisor.store.tables.output import StreamDetection
from termvisor.terminal import user_variables
from termvisor.terminal.row_window import LineAnchor
from termvisor.terminal.shell_tracker import (
    ActivityState,
    ShellCommandsState,
    ShellTracker,
    enter_alternate_screen,
    restore_tracker,
)
from termvisor.terminal.text_decoder import DecodedOutput
from termvisor.terminal.user_variables import NAME_PREFIX, VariableRate

# Number of bytes at the end of the log that are searched for secrets still visible on the screen.
_SECRET_LOOKBACK_BYTES = 1 << 16
_QUIET_SNAPSHOT_DELAY_S = 5.0
# Number of bytes that are decoded between two checks of the time. Output that is slow to decode takes 3 µs a byte.
_CHUNK_BYTES = 1 << 13
_STATUS_MARKS = frozenset({"agent", "title", "notification", "progress", "bell"})
"""Marks that show a program's status."""
_MAX_STATUS_MARKS = 64
_UNSTORED_MARKS = frozenset({"title", "bell", "sync_on", "sync_off", "paste_on", "paste_off", "progress"})


class EpochCarry(msgspec.Struct, frozen=True, array_like=True):
    """The state needed to continue at the committed offset; texts in it are redacted.

    Stored by position: the order of the fields is part of the database format.
    """

    decoder_carry: bytes = b""
    """Written by versions that decoded one line at a time."""
    redactor_state: bytes = b""
    activity_state: ActivityState = ActivityState()
    end_mark_offset: int = -1
    """Offset of the last end-of-program mark."""
    width: int = 0
    """Columns of the pane at the last listing."""
    begun: InitialLine = InitialLine()
    """The line at the cursor when the epoch began; valid until the first line ends."""
    commands_state: ShellCommandsState = ShellCommandsState()
    variable_rate: VariableRate = VariableRate()
    scan_state: LineScanState = LineScanState()
    text: TextCarry | None = None


class _OldDecoderCarry(msgspec.Struct, frozen=True):
    alternate: bool = False
    reported_to: int = 0


def encode_first_carry(epoch: Epoch, text: TextCarry, shell: RecordedShellState | None = None) -> bytes:
    """Return the carry of a new epoch, with the state that the pane's shell recorded before.

    It is never empty, which distinguishes a captured epoch from a reserved one.
    """
    tracker = ShellTracker(None) if shell is None else restore_tracker(shell)
    activity = tracker.activity_state
    if text.is_alternate:
        activity = enter_alternate_screen(activity, epoch.opened_at)
    return msgspec.msgpack.encode(EpochCarry(activity_state=activity, commands_state=tracker.commands_state, text=text))


def _build_text_carry(carry: EpochCarry) -> TextCarry:
    if carry.text is not None:
        return carry.text
    old = msgspec.json.decode(carry.decoder_carry or b"{}", type=_OldDecoderCarry)
    return TextCarry(
        width=carry.width,
        is_alternate=old.alternate,
        begun=carry.begun,
        redactor_state=carry.redactor_state,
        marks_to=old.reported_to,
    )


class EpochReader:
    """Decoder of one epoch. The take_… methods return what was found since their last call."""

    def __init__(
        self, epoch: Epoch, folder: str, nonce: str | None, files: WindowFiles, matcher: RuleMatcher | None = None
    ):
        carry = msgspec.msgpack.decode(epoch.carry, type=EpochCarry) if epoch.carry else EpochCarry()
        self.epoch, self.reader = epoch, SegmentReader(folder)
        self.text = EpochText(epoch, _build_text_carry(carry), files, self.reader)
        self.read_offset, self.stored_offset = self.text.decoder.offset, epoch.committed
        self.final_size: int | None = epoch.size
        self.lines_read = 0
        """Lines settled by the last read_step()."""
        self.known_size = 0
        """Reported size of the log. Reading up to it requires no stat call."""
        self.last_byte_at = epoch.opened_at
        self._log_gaps: list[Gap] = []
        self._end_mark_offset = carry.end_mark_offset
        self._nonce = nonce
        self._painted_secrets, self._painted_offset = PaintedSecretLearner(self.text.seen_secrets), 0
        self._marks: list[tuple[int, Mark]] = []
        self._final_anchors: list[LineAnchor] = []
        self.shells = ShellTracker(nonce, carry.activity_state, carry.commands_state)
        self._variable_rate = carry.variable_rate
        self._pending_events: list[Event | StreamDetection] = []
        self._matcher = matcher or RuleMatcher()
        self._line_scanner = LineScanner(self._matcher, epoch.pane, epoch.id, carry.scan_state)
        self._rule_marks: list[tuple[int, Mark]] = []
        self._status_marks: list[tuple[int, Mark]] = []
        self.json_lines = JsonLineCollector(self.text.first_index)
        self.has_new_lines = False
        """Whether the last take_progress() had new or rewritten lines."""
        self._repaint_detector = RepaintDetector(epoch.pane, epoch.id)
        self._has_changes = self._has_marks = False
        if epoch.committed:
            self.refresh_secrets()

    def refresh_secrets(self) -> SeenSecrets:
        """Return the secrets seen recently, after scanning the end of the raw log for painted ones."""
        if self.final_size is not None:
            return self.text.seen_secrets
        size = self.reader.read_size()
        self._painted_offset = max(self._painted_offset, size - _SECRET_LOOKBACK_BYTES)
        # Do not read past the end: the reader would look for another segment.
        while self._painted_offset < size:
            pieces = list(self.reader.read_pieces(self._painted_offset, size - self._painted_offset))
            if not pieces:
                break
            self._painted_secrets.feed(b"".join(data for _, data, _ in pieces))
            self._painted_offset = pieces[-1][0] + len(pieces[-1][1])
        return self.text.seen_secrets

    @property
    def pending_line(self) -> str:
        """Return the incomplete line at the cursor, with any lines below it."""
        return self.text.pending_text

    @property
    def is_fully_read(self) -> bool:
        """Return True if the epoch is closed and every byte of it was read."""
        return self.final_size is not None and self.read_offset >= self.final_size

    @property
    def has_end_mark(self) -> bool:
        """Return True if the text read so far ends with the end-of-program mark."""
        return self._end_mark_offset == self.read_offset

    def read_step(self, limit: int, is_turn_over: Callable[[], bool] = lambda: False) -> int:
        """Read up to ``limit`` bytes, or until the turn is over, and return the number of bytes read."""
        began, self.lines_read = self.read_offset, 0
        if self.known_size > began:
            limit = min(limit, self.known_size - began)
        for offset, data, at in self.reader.read_pieces(self.read_offset, limit):
            # Segments were deleted or truncated by another process.
            if offset != self.read_offset:
                self._skip_hole(offset, at)
                self.read_offset = offset
            # A piece may be all that was printed while the daemon was busy, so it may take longer than the turn.
            for start in range(0, len(data), _CHUNK_BYTES):
                self._read_chunk(data[start : start + _CHUNK_BYTES], at)
                # Not after a short read, which is the usual one and cannot have taken long.
                if self.read_offset - began >= _CHUNK_BYTES and is_turn_over():
                    return self.read_offset - began
        return self.read_offset - began

    def _read_chunk(self, data: bytes, at: int) -> None:
        self._process_decoded(self.text.feed(Delta(self.epoch.id, self.read_offset, data, at)), at)
        self.json_lines.collect_lines(self.text, data)
        self.read_offset, self.last_byte_at = self.read_offset + len(data), at

    def resize(self, width: int, height: int) -> bool:
        """Apply a new size of the pane; return True if lines left the screen."""
        decoded = self.text.resize(width, height)
        if decoded.lines:
            self._process_decoded(decoded, self.last_byte_at)
        return bool(decoded.lines)

    def take_paint_activity(self) -> PaintActivity | None:
        """Return how the pane repainted its screen since the last call, or None if it did not."""
        if self.final_size is not None:
            return self._repaint_detector.finish()
        return self._repaint_detector.take_activity(self.shells.activity_state.activity, self.text.row_jumps)

    def finish(self) -> None:
        """Settle the last lines of a closed epoch and close the log."""
        if self.final_size is not None and self.read_offset < self.final_size:
            self._record_hole(self.final_size, self.last_byte_at)
        self.shells.finish(self.read_offset)
        self._process_decoded(self.text.finish(self.last_byte_at), self.last_byte_at)
        # The commands that are lost now end with the last line.
        self._final_anchors.append(LineAnchor(self.read_offset, self.text.settled_count))
        self.reader.close()

    def take_progress(self) -> EpochUpdate | None:
        """Return what has to be stored since the last call, or None if there is nothing."""
        if not self._has_changes:
            return None
        first_index = self.text.first_index
        is_optional = not (self._has_marks or self._line_scanner.is_following)
        update = self.text.take_update(self.last_byte_at, is_optional=is_optional)
        if update is None:
            return None
        self.has_new_lines = bool(update.new_lines)
        detections = self._line_scanner.scan_update(update, self._rule_marks, first_index, self.last_byte_at)
        self.shells.resolve_edges(self._final_anchors, self.text.locate_anchors(), first_index)
        commands, edges = self.shells.take_updates()
        carry = msgspec.msgpack.encode(
            EpochCarry(
                activity_state=self.shells.activity_state,
                end_mark_offset=self._end_mark_offset,
                commands_state=self.shells.commands_state,
                variable_rate=self._variable_rate,
                scan_state=self._line_scanner.state,
                text=update.carry,
            )
        )
        progress = EpochUpdate(
            pane=self.epoch.pane,
            epoch=self.epoch.id,
            committed=update.committed,
            carry=carry,
            blocks=update.blocks,
            marks=tuple(self._marks),
            commands=commands,
            edges=edges,
            events=(*self._pending_events, *detections),
        )
        self._marks, self._pending_events, self._rule_marks, self._final_anchors = [], [], [], []
        self._has_changes = self._has_marks = False
        self.stored_offset = update.committed
        return progress

    @property
    def is_snapshot_behind(self) -> bool:
        """Return True if decoding would resume before the last byte read."""
        return self.stored_offset < self.read_offset

    def request_snapshot(self) -> bool:
        """Have the next take_progress() save a snapshot; return False if the last one is up to date."""
        if not self.is_snapshot_behind:
            return False
        self.text.request_snapshot()
        self._has_changes = True
        return True

    def add_pending_matches(self, matches: Iterable[RuleMatch] = ()) -> bool:
        """Add matches whose agent is not known yet; return True if any are pending."""
        is_any_waiting = self._line_scanner.add_pending(matches)
        self._has_changes = self._has_changes or is_any_waiting
        return is_any_waiting

    def take_status_marks(self) -> list[tuple[int, Mark]]:
        """Return the latest status marks since the last call, with their times."""
        marks, self._status_marks = self._status_marks, []
        return marks[-_MAX_STATUS_MARKS:]

    def take_gaps(self) -> list[Gap]:
        gaps, self._log_gaps = self._log_gaps, []
        return gaps

    def _skip_hole(self, offset: int, at: int) -> None:
        """Continue after missing segments with an empty window, and record the hole as a gap."""
        self._process_decoded(self.text.skip_hole(offset, self.last_byte_at), self.last_byte_at)
        self._record_hole(offset, at)

    def _record_hole(self, offset: int, at: int) -> None:
        epoch, detail = self.epoch.id, f"bytes {self.read_offset} to {offset} are no longer in the raw log"
        gap = Gap(pane=self.epoch.pane, cause="log_truncated", start_at=self.last_byte_at, end_at=at, detail=detail)
        self._log_gaps.append(replace(gap, after=epoch, before=epoch))

    def _process_decoded(self, decoded: DecodedOutput, at: int) -> None:
        self._has_changes = True
        self._has_marks = self._has_marks or bool(decoded.marks or decoded.anchors)
        self.lines_read += len(decoded.lines)
        for raw in decoded.marks:
            if raw.kind == "user_var" and raw.params["name"].startswith(NAME_PREFIX):
                self._process_user_variable(raw, at)
            else:
                self._process_mark(_redact_mark(raw), at)
        self._repaint_detector.observe_marks(decoded.marks)
        self._final_anchors += decoded.anchors

    def _process_mark(self, mark: Mark, at: int) -> None:
        if mark.kind == "end_of_program":
            self._end_mark_offset = mark.offset
        self.shells.apply_mark(mark, at)
        if mark.kind in _STATUS_MARKS:
            self._status_marks.append((at, mark))
        if self._matcher.has_mark_rules:
            self._rule_marks.append((at, _remove_nonce(mark)))
        if mark.kind not in _UNSTORED_MARKS:
            self._marks.append((at, _remove_nonce(mark)))

    def _process_user_variable(self, mark: Mark, at: int) -> None:
        """Turn one of our user variables into an event, not a mark: the nonce in its value must not be stored."""
        variable = user_variables.parse_variable(mark.params["name"], mark.text, self._nonce)
        if variable is None:
            return
        dropped = self._variable_rate.dropped
        self._variable_rate, is_admitted = user_variables.admit_variable(self._variable_rate, at)
        if is_admitted:
            event = user_variables.build_event(self.epoch.pane, at, variable, dropped, "stream")
            detection = user_variables.build_detection(self.epoch.pane, at, variable)
            self._pending_events.append(event if detection is None else StreamDetection(detection, event=event))


class SnapshotSchedule:
    """Requests a snapshot of the readers that fell silent since their last one; those that read on take one anyway.

    Without it the last segment of a silent pane could not be sealed before the pane prints again.
    """

    def __init__(self, clock: Clock):
        self._clock = clock
        self._readers: dict[EpochId, EpochReader] = {}
        self.due_at: float | None = None
        """Monotonic time of the next check; None if every snapshot is up to date."""

    def add_readers(self, readers: Iterable[EpochReader]) -> None:
        """Add those whose stored text goes beyond their last snapshot."""
        self._readers.update((reader.epoch.id, reader) for reader in readers if reader.is_snapshot_behind)
        if self._readers and self.due_at is None:
            self.due_at = self._clock.monotonic() + _QUIET_SNAPSHOT_DELAY_S

    def take_quiet_readers(self) -> list[EpochReader]:
        """Return the readers that will save a snapshot with their next progress, if a check is due."""
        if self.due_at is None or self._clock.monotonic() < self.due_at:
            return []
        quiet_since = self._clock.now() - int(_QUIET_SNAPSHOT_DELAY_S * NS)
        quiet = [reader for reader in self._readers.values() if reader.last_byte_at <= quiet_since]
        for reader in quiet:
            del self._readers[reader.epoch.id]
        self.due_at = self._clock.monotonic() + _QUIET_SNAPSHOT_DELAY_S if self._readers else None
        return [reader for reader in quiet if reader.final_size is None and reader.request_snapshot()]


def _redact_mark(mark: Mark) -> Mark:
    if not mark.text and not mark.params:
        return mark
    params = {redact(key): redact(value) for key, value in mark.params.items() if key != "nonce"}
    nonce = {"nonce": mark.params["nonce"]} if "nonce" in mark.params else {}
    return replace(mark, text=redact(mark.text), params=params | nonce)


def _remove_nonce(mark: Mark) -> Mark:
    """Return the mark without the nonce, which must remain in its file only, although it was printed."""
    if "nonce" not in mark.params:
        return mark
    return replace(mark, params={key: value for key, value in mark.params.items() if key != "nonce"})


def get_activity(reader: EpochReader | None) -> PaneActivity:
    return PaneActivity(kind="gap") if reader is None else reader.shells.activity_state.activity
