"""Read one epoch's raw bytes, decode them to text and marks, redact them and cut them into blocks.

Invariant: the output of take_progress() and the offset in it are stored in one transaction, so a restarted
daemon continues exactly there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from termvisor.capture.screen_sampler import PaintActivity
from termvisor.model.event import Event
from termvisor.model.terminal.output import NO_INITIAL_LINE, Delta, Epoch, Gap, InitialLine, Mark, TextBlock
from termvisor.model.terminal.pane import PaneActivity
from termvisor.pipeline.json_lines import JsonLineCollector
from termvisor.pipeline.repaint_detector import RepaintDetector
from termvisor.pipeline.rule_matcher import LineScanner, LineScanState, RuleMatch, RuleMatcher
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import Redactor, SeenSecrets, redact
from termvisor.redaction.raw_bytes import PaintedSecretLearner
from termvisor.store import EpochUpdate
from termvisor.store.tables.pipeline_commit import StreamDetection
from termvisor.terminal import user_variables
from termvisor.terminal.shell_tracker import ActivityState, ShellCommandsState, ShellTracker, enter_alternate_screen
from termvisor.terminal.text_decoder import DecodedOutput, TextDecoder, build_blocks, encode_carry
from termvisor.terminal.user_variables import NAME_PREFIX, VariableRate

# Number of bytes at the end of the log that are searched for secrets still visible on the screen.
_SECRET_LOOKBACK_BYTES = 1 << 16
_STATUS_MARKS = frozenset({"agent", "title", "notification", "progress", "bell"})
"""Marks that show a program's status."""
_MAX_STATUS_MARKS = 64
_UNSTORED_MARKS = frozenset({"title", "bell", "sync_on", "sync_off", "paste_on", "paste_off", "progress"})


class EpochCarry(msgspec.Struct, frozen=True, array_like=True):
    """The state needed to continue at the committed offset; texts in it are redacted.

    Stored by position: the order of the fields is part of the database format.
    """

    decoder_carry: bytes = b""
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


def encode_first_carry(
    *, is_alternate: bool, at: int = 0, width: int = 0, begun: InitialLine = NO_INITIAL_LINE
) -> bytes:
    """Return the carry of a new epoch. It is never empty, which distinguishes a captured epoch from a reserved one."""
    activity = enter_alternate_screen(ActivityState(), at) if is_alternate else ActivityState()
    return msgspec.msgpack.encode(
        EpochCarry(encode_carry(is_alternate=is_alternate), activity_state=activity, width=width, begun=begun)
    )


class EpochReader:
    """Decoder of one epoch. The take_… methods return what was found since their last call."""

    def __init__(self, epoch: Epoch, folder: str, nonce: str | None, matcher: RuleMatcher | None = None):
        carry = msgspec.msgpack.decode(epoch.carry, type=EpochCarry) if epoch.carry else EpochCarry()
        self.epoch, self.reader = epoch, SegmentReader(folder)
        self.read_offset = self.stored_offset = epoch.committed
        self.final_size: int | None = epoch.size
        self.lines_read = 0
        """Lines settled by the last read_step()."""
        self.known_size = 0
        """Reported size of the log. Reading up to it requires no stat call."""
        self.last_byte_at = epoch.opened_at
        self._log_gaps: list[Gap] = []
        self._end_mark_offset = carry.end_mark_offset
        self._nonce = nonce
        self._decoder = TextDecoder(epoch.committed, carry.decoder_carry)
        self._decoder.assembler.width = carry.width
        self._begun = carry.begun
        if epoch.committed == 0 and carry.begun.text:
            self._decoder.assembler.preset_line(carry.begun.text, carry.begun.column)
        self._seen_secrets = SeenSecrets()
        self._painted_secrets, self._painted_offset, self._row_jumps = PaintedSecretLearner(self._seen_secrets), 0, 0
        self._redactor = Redactor(state=carry.redactor_state, seen_secrets=self._seen_secrets)
        self._blocks: list[TextBlock] = []
        self._marks: list[tuple[int, Mark]] = []
        self.shells = ShellTracker(nonce, carry.activity_state, carry.commands_state)
        self._variable_rate = carry.variable_rate
        self._pending_events: list[Event | StreamDetection] = []
        self._matcher = matcher or RuleMatcher()
        self._line_scanner = LineScanner(self._matcher, epoch.pane, epoch.id, carry.scan_state)
        self._rule_marks: list[tuple[int, Mark]] = []
        self._status_marks: list[tuple[int, Mark]] = []
        self.json_lines = JsonLineCollector()
        self._repaint_detector = RepaintDetector(epoch.pane, epoch.id)
        self._has_changes = False
        if epoch.committed:
            self.refresh_secrets()

    @property
    def pending_line(self) -> str:
        return Redactor(seen_secrets=self._seen_secrets).redact_lines([self._decoder.assembler.text])[0]

    def refresh_secrets(self) -> SeenSecrets:
        """Return the secrets seen recently, after scanning the end of the raw log for painted ones."""
        if self.final_size is not None:
            return self._seen_secrets
        size = self.reader.read_size()
        self._painted_offset = max(self._painted_offset, size - _SECRET_LOOKBACK_BYTES)
        # Do not read past the end: the reader would look for another segment.
        while self._painted_offset < size:
            pieces = list(self.reader.read_pieces(self._painted_offset, size - self._painted_offset))
            if not pieces:
                break
            self._painted_secrets.feed(b"".join(data for _, data, _ in pieces))
            self._painted_offset = pieces[-1][0] + len(pieces[-1][1])
        return self._seen_secrets

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
            self._process_decoded(self._decoder.feed(Delta(self.epoch.id, offset, data, at)), at)
            self.read_offset, self.last_byte_at = offset + len(data), at
            if is_turn_over():
                break
        return self.read_offset - began

    def set_width(self, width: int) -> None:
        self._decoder.assembler.width = width

    def take_paint_activity(self) -> PaintActivity | None:
        """Return how the pane repainted its screen since the last call, or None if it did not."""
        if self.final_size is not None:
            return self._repaint_detector.finish()
        return self._repaint_detector.take_activity(
            self.shells.activity_state.activity, self._decoder.assembler.row_jumps
        )

    def finish(self) -> None:
        """Decode the unfinished last line of a closed epoch and close the log."""
        if self.final_size is not None and self.read_offset < self.final_size:
            self._record_hole(self.final_size, self.last_byte_at)
        if (
            self._begun.is_stored
            and self._decoder.build_checkpoint()[0] == 0
            and self._decoder.assembler.text == self._begun.text
        ):
            self._decoder.assembler.preset_line("", 0)
        self.shells.finish(self.read_offset)
        self._process_decoded(self._decoder.finish(self.last_byte_at), self.last_byte_at)
        self.reader.close()

    def take_progress(self) -> EpochUpdate | None:
        """Return what has to be stored since the last call, or None if nothing was read."""
        if not self._has_changes:
            return None
        committed, decoder_carry = self._decoder.build_checkpoint()
        detections = self._line_scanner.scan_blocks(self._blocks, self._rule_marks)
        carry = msgspec.msgpack.encode(
            EpochCarry(
                decoder_carry=decoder_carry,
                redactor_state=self._redactor.state,
                activity_state=self.shells.activity_state,
                end_mark_offset=self._end_mark_offset,
                width=self._decoder.assembler.width,
                begun=self._begun if committed == 0 else InitialLine(),
                commands_state=self.shells.commands_state,
                variable_rate=self._variable_rate,
                scan_state=self._line_scanner.state,
            )
        )
        commands, edges = self.shells.take_updates()
        progress = EpochUpdate(
            pane=self.epoch.pane,
            epoch=self.epoch.id,
            committed=committed,
            carry=carry,
            blocks=tuple(self._blocks),
            marks=tuple(self._marks),
            commands=commands,
            edges=edges,
            events=(*self._pending_events, *detections),
        )
        self._blocks, self._marks, self._pending_events, self._rule_marks, self._has_changes = [], [], [], [], False
        self.stored_offset = committed
        return progress

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
        """Continue after missing segments with a new decoder, and record the hole as a gap."""
        self._process_decoded(self._decoder.finish(self.last_byte_at), self.last_byte_at)
        decoder = TextDecoder(offset, encode_carry(is_alternate=self._decoder.is_alternate))
        decoder.assembler.width = self._decoder.assembler.width
        self._decoder = decoder
        self._record_hole(offset, at)

    def _record_hole(self, offset: int, at: int) -> None:
        epoch, detail = self.epoch.id, f"bytes {self.read_offset} to {offset} are no longer in the raw log"
        gap = Gap(pane=self.epoch.pane, cause="log_truncated", start_at=self.last_byte_at, end_at=at, detail=detail)
        self._log_gaps.append(replace(gap, after=epoch, before=epoch))

    def _process_decoded(self, decoded: DecodedOutput, at: int) -> None:
        self._has_changes = True
        self.lines_read += len(decoded.lines)
        if decoded.lines or decoded.overwritten:
            texts = self._redact_lines(decoded)
            self._blocks.extend(build_blocks(self.epoch.id, decoded.lines, texts))
            self.json_lines.collect_lines(decoded.lines, texts)
        for raw in decoded.marks:
            if raw.kind == "user_var" and raw.params["name"].startswith(NAME_PREFIX):
                self._process_user_variable(raw, at)
            else:
                self._process_mark(_redact_mark(raw), at)
        self._repaint_detector.observe_marks(decoded.marks)
        self.shells.settle_lines(decoded.lines, self._decoder.next_line_start)

    def _redact_lines(self, decoded: DecodedOutput) -> list[str]:
        """Return the redacted lines. Text that a line overwrote is checked for secrets just before that line."""
        texts: list[str] = []
        for covered in decoded.overwritten:
            index = bisect_left(decoded.lines, covered.start, key=lambda line: line.start)
            texts += self._redactor.redact_lines([line.text for line in decoded.lines[len(texts) : index]])
            self._redactor.learn_overwritten(covered.text)
        texts += self._redactor.redact_lines([line.text for line in decoded.lines[len(texts) :]])
        if self._seen_secrets:
            self._seen_secrets.count_lines(
                len(texts), is_repainting=self._decoder.assembler.row_jumps != self._row_jumps
            )
        self._row_jumps = self._decoder.assembler.row_jumps
        return texts

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
