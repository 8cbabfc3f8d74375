"""Keep the text of one epoch: lines that left the screen and are to be stored, and the lines still on it.

In: deltas and resizes. Out: text blocks for the store, new and rewritten lines for rules, and unstored lines for
readers, all redacted. Invariant: after a restart, decoding continues from the snapshot at the committed offset, and the
lines that were stored after that offset are dropped, so every line is stored once.

Lines are identified by their index in the epoch, and by a number in the pane once they are read or stored.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.epochs import find_cursor_column
from termvisor.model.terminal.output import Delta, Epoch, InitialLine, Line, TextBlock
from termvisor.pipeline.line_tracker import LineRun, WindowLineTracker
from termvisor.pipeline.window_files import WindowFiles
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import Redactor, SeenSecrets
from termvisor.terminal.row_window import LineAnchor, ProvisionalLine, SettledLine
from termvisor.terminal.text_decoder import DecodedOutput, TextDecoder, build_blocks

# A new snapshot is taken after this much output or, if the output is slower, after this time.
_SNAPSHOT_BYTES, _SNAPSHOT_NS = 1 << 16, 15_000_000_000
# Number of bytes decoded again to fill the window if its snapshot was lost.
_REBUILD_BYTES = 1 << 18
_DEFAULT_WIDTH, _DEFAULT_HEIGHT = 80, 24


class TextCarry(Struct, frozen=True, kw_only=True):
    """The state of the text at a commit, without text."""

    width: int = 0
    height: int = 0
    """0 in the carry of a version that decoded one line at a time."""
    is_alternate: bool = False
    """Whether the pane showed the alternate screen at the committed offset."""
    begun: InitialLine = InitialLine()
    """The line at the cursor when the epoch began, redacted."""
    redactor_state: bytes = b""
    marks_to: int = 0
    """Marks up to this offset are stored."""
    lines_after: int = 0
    """Number of lines that settled after the committed offset and are stored."""
    checksums: tuple[int, ...] = ()
    """Of the lines in the window that rules have seen."""
    rewritten_at: int = 0
    first_rewritten: int = 0


class UnseenLines(Struct, frozen=True):
    """Consecutive lines that rules have not seen, redacted; ``before`` are the texts above them."""

    run: LineRun
    texts: Sequence[str]
    before: Sequence[str]


class TextUpdate(Struct, frozen=True):
    """What a commit stores: the lines that settled, and the offset at which decoding can resume."""

    committed: int
    carry: TextCarry
    blocks: tuple[TextBlock, ...]
    new_lines: tuple[UnseenLines, ...]


def seed_window(epoch: Epoch, capture: PaneCapture, begun: InitialLine, files: WindowFiles) -> TextCarry:
    """Save what a pane shows at the start of an epoch, whose rows are stored already; return the first carry.

    The line at the cursor may be unfinished: unless it is stored, the first bytes continue it.
    """
    decoder = TextDecoder(capture.width, capture.height, is_alternate=capture.alternate)
    main = capture.main if capture.alternate else capture
    if main is not None:
        rows = [row.rstrip() for row in main.rows]
        count = max((place for place, row in enumerate(rows, 1) if row), default=0)
        is_begun = bool(begun.text) and not begun.is_stored
        # Not the begun line itself, which is redacted: its columns may differ from those on the screen.
        text, column = (rows[count - 1], find_cursor_column(main, count) or 0) if is_begun else ("", 0)
        decoder.seed(rows, main.cursor_x, main.cursor_y, begun=text, begun_column=column)
    files.save(epoch.id, 0, decoder.snapshot())
    return TextCarry(width=capture.width, height=capture.height, is_alternate=capture.alternate, begun=begun)


class EpochText:
    def __init__(self, epoch: Epoch, carry: TextCarry, files: WindowFiles, log: SegmentReader):
        self.epoch, self._files = epoch, files
        self.seen_secrets = SeenSecrets()
        self._redactor = Redactor(state=carry.redactor_state, seen_secrets=self.seen_secrets)
        self.size = carry.width or _DEFAULT_WIDTH, carry.height or _DEFAULT_HEIGHT
        self._marks_to = carry.marks_to
        snapshot = files.load(epoch.id, epoch.committed)
        loaded = None if snapshot is None else _load_decoder(snapshot, epoch.committed)
        is_exact = loaded is not None or epoch.committed == 0
        self.decoder = loaded or self._rebuild_decoder(carry, log)
        # A pane resized after its last snapshot is resized again once the daemon has listed it.
        self.size = self.decoder.size
        self._begun, self._was_alternate = carry.begun, self.decoder.is_alternate
        self._index_shift = 0
        """What to add to the decoder's line indexes: they restart after a hole in the log."""
        self._committed, self._committed_at = epoch.committed, epoch.opened_at
        self._lines_at_commit = self.settled_count = self.decoder.settled_count
        """Number of lines of the epoch that settled."""
        self.first_index = self.settled_count + carry.lines_after
        """Index of the first line that is not stored."""
        checksums = carry.checksums if is_exact else ()
        self._tracker = WindowLineTracker(self.first_index, checksums, carry.rewritten_at, carry.first_rewritten)
        self._settled: list[SettledLine] = []
        self._settled_texts: list[str] = []
        self._storing: list[tuple[SettledLine, str]] = []
        self._row_jumps = 0
        self._is_snapshot_due = False
        self.lost_bytes = self._read_to_last_commit(log)
        """Number of bytes that were read before the last commit and are no longer in the log."""

    @property
    def rewritten_at(self) -> int:
        """Return when a complete line was rewritten last, in milliseconds; 0 if never."""
        return self._tracker.rewritten_at

    @property
    def row_jumps(self) -> int:
        return self.decoder.row_jumps

    @property
    def pending_text(self) -> str:
        """Return the line at the cursor and those below it, redacted."""
        window = self.decoder.list_provisional_lines()
        return "\n".join(self._redact_window(window)[_count_complete(window) :])

    def feed(self, delta: Delta) -> DecodedOutput:
        """Decode bytes; return what they add to what is stored."""
        return self._accept(self.decoder.feed(delta))

    def resize(self, width: int, height: int) -> DecodedOutput:
        if width <= 0 or height <= 0 or (width, height) == self.size:
            return DecodedOutput()
        # The bytes before the resize must not be decoded again at the new size.
        self.size, self._is_snapshot_due = (width, height), True
        return self._accept(self.decoder.resize(width, height))

    def finish(self, at: int) -> DecodedOutput:
        """Settle all lines at the end of the epoch."""
        self._is_snapshot_due = True
        return self._accept(self.decoder.finish(at), is_cut=True)

    def skip_hole(self, offset: int, at: int) -> DecodedOutput:
        """Settle all lines before missing bytes and continue after them with an empty window."""
        decoded = self.finish(at)
        self._index_shift = self.settled_count
        self.decoder = TextDecoder(*self.size, offset=offset, is_alternate=self.decoder.is_alternate)
        return decoded

    def locate_anchors(self) -> list[LineAnchor]:
        """Return the lines of the marks that are still in the window."""
        return self._shift_anchors(self.decoder.locate_anchors())

    def take_update(self, at: int, *, is_optional: bool = False) -> TextUpdate | None:
        """Return what has to be stored since the last call; ``at`` is the time of the last byte.

        With ``is_optional``, return None if that is nothing: a spinner that rewrites its line does so for hours.
        """
        window = self.decoder.list_provisional_lines()
        is_skippable = is_optional and not self._settled and not self._needs_snapshot(at)
        if is_skippable and self._tracker.is_tracked(self.first_index, window):
            return None
        runs = self._tracker.track(self.first_index, self._settled, window, at)
        texts = [*self._settled_texts, *self._redact_window(window)] if runs else []
        new_lines = tuple(self._build_new_lines(run, texts) for run in runs)
        blocks = tuple(build_blocks(self.epoch.id, self._settled, self._settled_texts))
        self._storing += zip(self._settled, self._settled_texts, strict=True)
        self.first_index += len(self._settled)
        self._settled, self._settled_texts = [], []
        self._marks_to = max(self._marks_to, self.decoder.offset)
        self._save_snapshot(at)
        carry = TextCarry(
            width=self.size[0],
            height=self.size[1],
            is_alternate=self._was_alternate,
            begun=self._begun,
            redactor_state=self._redactor.state,
            marks_to=self._marks_to,
            lines_after=self.first_index - self._lines_at_commit,
            checksums=self._tracker.checksums,
            rewritten_at=self._tracker.rewritten_at,
            first_rewritten=self._tracker.first_rewritten,
        )
        return TextUpdate(self._committed, carry, blocks, new_lines)

    def request_snapshot(self) -> None:
        """Have the next take_update() save a snapshot."""
        self._is_snapshot_due = True

    def confirm_stored(self) -> None:
        """Forget the lines of the last update, because it is stored, and delete the snapshots before its own."""
        self._storing = []
        self._files.delete_older(self.epoch.id)

    def list_unstored_lines(self, first_number: int) -> list[Line]:
        """Return the complete lines that are not stored; ``first_number`` is the number of the first."""
        window = self.decoder.list_provisional_lines()
        complete = window[: _count_complete(window)]
        texts = [text for _, text in self._storing] + self._settled_texts
        lines: list[SettledLine | ProvisionalLine] = [*(line for line, _ in self._storing), *self._settled]
        settled = len(lines)
        pairs = zip([*lines, *complete], [*texts, *self._redact_window(complete)], strict=True)
        return [
            Line(
                pane=self.epoch.pane,
                number=first_number + place,
                at=line.at,
                text=text,
                epoch=self.epoch.id,
                is_provisional=place >= settled,
            )
            for place, (line, text) in enumerate(pairs)
        ]

    def join_unredacted(self) -> str:
        """Return the text of all unstored lines, only to decide whether redacting them is worthwhile."""
        settled = [line.text for line, _ in self._storing] + [line.text for line in self._settled]
        return "\n".join([*settled, *(line.text for line in self.decoder.list_provisional_lines())])

    def list_complete_lines(self, after: int) -> list[tuple[SettledLine | ProvisionalLine, str]]:
        """Return the complete lines with an index of at least ``after`` that are not stored, with redacted texts."""
        window = self.decoder.list_provisional_lines()
        complete = window[: _count_complete(window)]
        lines: list[tuple[SettledLine | ProvisionalLine, str]] = []
        lines += zip(self._settled, self._settled_texts, strict=True)
        return [*lines, *zip(complete, self._redact_window(complete), strict=True)][max(0, after - self.first_index) :]

    def count_unstored_lines(self) -> int:
        return len(self._storing) + len(self._settled) + _count_complete(self.decoder.list_provisional_lines())

    def find_rewritten_lines(self, since: int) -> list[int]:
        """Return the complete lines rewritten after ``rewritten_at`` had this value, as places.

        Places are counted from the first unstored line; a stored line has a negative one.
        """
        first = self.first_index - len(self._storing)
        return [index - first for index in self._tracker.find_rewritten(since)]

    def count_printed_lines(self) -> int:
        """Return how many of the unstored lines are above the first one that the program has rewritten."""
        rewritten = [place for place in self.find_rewritten_lines(-1) if place >= 0]
        return min([self.count_unstored_lines(), *rewritten])

    def _read_to_last_commit(self, log: SegmentReader) -> int:
        """Decode the bytes between the snapshot and the last commit again, which adds nothing to what is stored.

        Return how many of them are missing. The bytes that follow are new in any case.
        """
        while (left := self._marks_to - self.decoder.offset) > 0:
            pieces = list(log.read_pieces(self.decoder.offset, left))
            if not pieces or pieces[0][0] != self.decoder.offset:
                self._marks_to, self.first_index = self.decoder.offset, self.settled_count
                self._tracker = WindowLineTracker(self.first_index)
                return left
            for offset, data, at in pieces:
                self.feed(Delta(self.epoch.id, offset, data, at))
        return max(0, self.epoch.committed - log.read_size()) if self.epoch.committed else 0

    def _accept(self, decoded: DecodedOutput, *, is_cut: bool = False) -> DecodedOutput:
        """Return what decoded output adds to what is stored; ``is_cut`` if its last line may be incomplete."""
        known = min(len(decoded.lines), max(0, self.first_index - self.settled_count))
        self.settled_count += len(decoded.lines)
        lines = decoded.lines[known:]
        if lines or decoded.overwritten:
            self._add_lines(lines, decoded, is_cut)
        marks = tuple(mark for mark in decoded.marks if mark.offset > self._marks_to)
        return replace(decoded, lines=lines, marks=marks, anchors=tuple(self._shift_anchors(decoded.anchors)))

    def _add_lines(self, lines: Sequence[SettledLine], decoded: DecodedOutput, is_cut: bool) -> None:
        if decoded.overwritten:
            self._learn_overwritten(decoded)
        self._settled += lines
        texts = [line.text for line in lines]
        complete, last = (texts[:-1], texts[-1:]) if is_cut else (texts, [])
        self._settled_texts += self._redactor.redact_lines(complete)
        self._settled_texts += map(self._redactor.redact_cut_line, last)
        if self.seen_secrets:
            self.seen_secrets.count_lines(len(lines), is_repainting=self.decoder.row_jumps != self._row_jumps)
        self._row_jumps = self.decoder.row_jumps

    def _learn_overwritten(self, decoded: DecodedOutput) -> None:
        """Learn the secrets in overwritten text, which may begin in the lines above it."""
        shown: list[SettledLine | ProvisionalLine] = [*decoded.lines, *self.decoder.list_provisional_lines()]
        for covered in decoded.overwritten:
            above = [line.text for line in shown if line.start < covered.start]
            redactor = Redactor(state=self._redactor.state, seen_secrets=self.seen_secrets)
            self.seen_secrets.learn_values(covered.text, redactor.redact_lines([*above, covered.text])[-1], is_any=True)

    def _shift_anchors(self, anchors: Sequence[LineAnchor]) -> list[LineAnchor]:
        return [LineAnchor(anchor.mark, anchor.line + self._index_shift) for anchor in anchors]

    def _redact_window(self, window: Sequence[ProvisionalLine]) -> list[str]:
        """Redact lines as the continuation of the settled ones, without changing the state for those."""
        redactor = Redactor(state=self._redactor.state, seen_secrets=self.seen_secrets)
        return redactor.redact_screen([line.text for line in window], _count_complete(window))

    def _build_new_lines(self, run: LineRun, texts: Sequence[str]) -> UnseenLines:
        place = run.first - self.first_index
        return UnseenLines(run, texts[place : place + len(run.lines)], texts[:place])

    def _needs_snapshot(self, at: int) -> bool:
        offset = self.decoder.offset
        is_old = offset - self._committed >= _SNAPSHOT_BYTES or at - self._committed_at >= _SNAPSHOT_NS
        return offset != self._committed and (is_old or self._is_snapshot_due)

    def _save_snapshot(self, at: int) -> None:
        """Take a snapshot if one is due; otherwise decoding resumes at the last one."""
        if not self._needs_snapshot(at):
            return
        offset = self.decoder.offset
        if self._files.save(self.epoch.id, offset, self.decoder.snapshot()):
            self._committed, self._committed_at, self._is_snapshot_due = offset, at, False
            self._lines_at_commit, self._was_alternate = self.first_index, self.decoder.is_alternate
            self._begun = InitialLine()

    def _rebuild_decoder(self, carry: TextCarry, log: SegmentReader) -> TextDecoder:
        """Return a decoder without a snapshot: of a new epoch, of an older version, or of one whose file was lost."""
        committed = self.epoch.committed
        if committed == 0 or carry.height == 0:
            decoder = TextDecoder(*self.size, offset=committed, is_alternate=carry.is_alternate)
            if committed == 0 and carry.begun.text and not carry.begun.is_stored:
                decoder.seed([carry.begun.text], 0, 0, begun=carry.begun.text, begun_column=carry.begun.column)
            return decoder
        # Without its snapshot, the window is what the last output before the offset shows.
        decoder = TextDecoder(*self.size, offset=max(0, committed - _REBUILD_BYTES))
        for offset, data, at in log.read_pieces(decoder.offset, committed - decoder.offset):
            if offset != decoder.offset:
                decoder = TextDecoder(*self.size, offset=offset)
            decoder.feed(Delta(self.epoch.id, offset, data, at))
        is_complete = decoder.offset == committed
        return decoder if is_complete else TextDecoder(*self.size, offset=committed)


def _load_decoder(snapshot: bytes, offset: int) -> TextDecoder | None:
    try:
        decoder = TextDecoder.load(snapshot)
    except ValueError:
        # A file that was cut short when the power failed.
        return None
    return decoder if decoder.offset == offset else None


def _count_complete(window: Sequence[ProvisionalLine]) -> int:
    """Return the number of lines above the cursor."""
    return next((place for place, line in enumerate(window) if line.has_cursor), len(window))
