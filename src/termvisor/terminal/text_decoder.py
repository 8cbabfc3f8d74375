"""Decode the output of one epoch to settled lines and marks, and group lines into blocks.

In: deltas, in order and without holes. Out: a DecodedOutput for each. Invariant: the overall result depends only on the
bytes, not on how they were split into deltas or how often a decoder was rebuilt from a checkpoint.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta, Mark, TextBlock
from termvisor.terminal.line_assembler import LineAssembler, SettledLine
from termvisor.terminal.marks import parse_csi_marks, parse_osc_mark
from termvisor.terminal.overwritten_text import OverwrittenLine
from termvisor.terminal.tokenizer import ReadMode, SequenceKind, TerminalToken, Tokenizer

_MARKS_WITH_ROW = frozenset({"prompt_start", "input_start", "command_start", "command_end"})
# Number of bytes processed at once, to bound memory for a large delta.
_CHUNK_BYTES = 65536
_MAX_BLOCK_LINES, _MAX_BLOCK_CHARACTERS = 32, 2048
# Within a block, the times of lines are accurate to a second.
_MAX_BLOCK_NS = 1_000_000_000


class DecodedOutput(Struct, frozen=True):
    """Lines and marks that became certain. A mark's offset is just after its sequence."""

    lines: tuple[SettledLine, ...] = ()
    marks: tuple[Mark, ...] = ()
    overwritten: tuple[OverwrittenLine, ...] = ()
    """Text that was overwritten in lines that end here or later."""


class _DecoderCarry(Struct, frozen=True, omit_defaults=True):
    """The state needed to resume: modes and counters, but no text, because it is stored unredacted.

    Field names are stored in the database.
    """

    alternate: bool = False
    skipping: SequenceKind | None = None
    reported_to: int = 0
    rung_to: int = 0


def encode_carry(*, is_alternate: bool) -> bytes:
    """Return the carry of a stream whose capture starts on the alternate or the main screen."""
    return msgspec.json.encode(_DecoderCarry(alternate=is_alternate))


class TextDecoder:
    """Decoder of one epoch's deltas; ``TextDecoder(*checkpoint)`` resumes from build_checkpoint()."""

    def __init__(self, offset: int = 0, carry: bytes = b""):
        state = msgspec.json.decode(carry, type=_DecoderCarry) if carry else _DecoderCarry()
        self.is_alternate = state.alternate
        self._marks_reported_to = state.reported_to
        self._bell_end = state.rung_to
        self._tokenizer = Tokenizer(offset, state.skipping)
        self.assembler = LineAssembler(offset)
        """The unfinished line. Set its width before feeding bytes printed at that width."""
        self._marks: list[Mark] = []

    @property
    def next_line_start(self) -> int:
        """Return the offset before which no future line begins."""
        is_between = self.is_alternate or self._tokenizer.skipped_kind is not None
        return self._tokenizer.position if is_between else self.assembler.start

    def feed(self, delta: Delta) -> DecodedOutput:
        expected = self._tokenizer.position + len(self._tokenizer.unfinished_bytes)
        if delta.offset != expected:
            raise InternalError(f"delta at offset {delta.offset}, expected {expected}")
        self.assembler.at = delta.at
        for start in range(0, len(delta.data), _CHUNK_BYTES):
            self._tokenizer.feed(delta.data[start : start + _CHUNK_BYTES])
            while (token := self._tokenizer.next_token(self._choose_read_mode())) is not None:
                _TOKEN_HANDLERS[token.kind](self, token)
        self._tokenizer.discard_consumed()
        return self._take_decoded()

    def finish(self, at: int) -> DecodedOutput:
        """Settle the unfinished line and drop an unfinished sequence at the end of the stream."""
        rest, position = self._tokenizer.unfinished_bytes, self._tokenizer.position
        end = position + len(rest)
        self.assembler.at = at
        if not self.is_alternate and self._tokenizer.skipped_kind is None:
            if rest[:1] >= b"\xa0":
                self.assembler.write(TerminalToken("text", position, end, "\ufffd", rest))
            self.assembler.leave_line(end)
        self._tokenizer = Tokenizer(end)
        self.assembler.begin_line(end)
        return self._take_decoded()

    def build_checkpoint(self) -> tuple[int, bytes]:
        """Return the offset and carry to resume from without losing or repeating output."""
        carry = _DecoderCarry(
            alternate=self.is_alternate,
            skipping=self._tokenizer.skipped_kind,
            reported_to=max(self._tokenizer.position, self._marks_reported_to),
            rung_to=self._bell_end,
        )
        return self.next_line_start, msgspec.json.encode(carry)

    def _choose_read_mode(self) -> ReadMode:
        if self.is_alternate:
            return "marks"
        if self.assembler.is_empty:
            return "fresh"
        return "lines" if self.assembler.is_plain else "exact"

    def _take_decoded(self) -> DecodedOutput:
        decoded = DecodedOutput(
            tuple(self.assembler.settled_lines), tuple(self._marks), self.assembler.overwrites.take_overwritten()
        )
        self.assembler.settled_lines.clear()
        self._marks.clear()
        return decoded

    def _add_mark(self, mark: Mark) -> None:
        if mark.offset > self._marks_reported_to:
            self._marks.append(
                replace(mark, row=self._find_mark_row(mark.offset)) if mark.kind in _MARKS_WITH_ROW else mark
            )

    def _find_mark_row(self, offset: int) -> int:
        return offset if self.is_alternate or self.assembler.text else self.assembler.start

    def _handle_run(self, token: TerminalToken) -> None:
        if not self.is_alternate and not self.assembler.add_run(token):
            self._tokenizer.reread_exactly(token)

    def _handle_erased(self, token: TerminalToken) -> None:
        if not self.assembler.apply_erased(token):
            self._tokenizer.reread_exactly(token)

    def _handle_moves(self, token: TerminalToken) -> None:
        self.assembler.row_jumps += 1
        self.assembler.begin_line(token.end)

    def _handle_text(self, token: TerminalToken) -> None:
        if not self.is_alternate:
            self.assembler.write(token)

    def _handle_control(self, token: TerminalToken) -> None:
        if token.data.startswith(b"\a"):
            self._handle_bell(token)
        if not self.is_alternate:
            self.assembler.apply_control(token)

    def _handle_bell(self, token: TerminalToken) -> None:
        """Report consecutive bells as one, even if they are in different chunks."""
        if token.start != self._bell_end:
            self._add_mark(Mark(kind="bell", offset=token.start + 1))
        self._bell_end = token.end

    def _handle_dropped(self, token: TerminalToken) -> None:
        if not self.is_alternate:
            self.assembler.skip_bytes(token.start, token.end)

    def _handle_csi(self, token: TerminalToken) -> None:
        self._limit_line(token)
        marks = parse_csi_marks(token.data, token.text, token.end) if token.data[:1] in (b"?", b"!") else ()
        for mark in marks:
            self._add_mark(mark)
            if mark.kind in ("alt_screen_on", "alt_screen_off"):
                self._switch_screen(mark.kind == "alt_screen_on", token)
        if not marks:
            self._apply_sequence(token)

    def _handle_esc(self, token: TerminalToken) -> None:
        self._limit_line(token)
        if token.text == "c" and not token.data:
            self._add_mark(Mark(kind="reset", offset=token.end))
            self._switch_screen(False, token)
        self._apply_sequence(token)

    def _apply_sequence(self, token: TerminalToken) -> None:
        if not self.is_alternate:
            self.assembler.apply_sequence(token)

    def _switch_screen(self, is_alternate: bool, token: TerminalToken) -> None:
        if not self.is_alternate:
            self.assembler.leave_line(token.end)
        self.is_alternate = is_alternate
        self.assembler.begin_line(token.end)

    def _handle_osc(self, token: TerminalToken) -> None:
        mark = parse_osc_mark(token.data, token.end)
        if mark is not None and mark.kind == "input_start":
            mark = replace(mark, column=self.assembler.cursor_column)
        if mark is not None:
            self._add_mark(mark)
        self._limit_line(token)

    def _handle_passthrough(self, token: TerminalToken) -> None:
        """Read the marks inside a tmux passthrough. Its text and modes belong to the outer terminal."""
        inner_tokenizer = Tokenizer()
        inner_tokenizer.feed(token.data.removeprefix(b"tmux;").replace(b"\x1b\x1b", b"\x1b"))
        while (inner_token := inner_tokenizer.next_token("marks")) is not None:
            if inner_token.kind == "control" and inner_token.data.startswith(b"\a"):
                self._add_mark(Mark(kind="bell", offset=token.end))
            elif inner_token.kind == "osc" and (mark := parse_osc_mark(inner_token.data, token.end)):
                self._add_mark(mark)
        self._limit_line(token)

    def _limit_line(self, token: TerminalToken) -> None:
        if not self.is_alternate:
            self.assembler.limit_length(token.start)

    def _handle_lost(self, token: TerminalToken) -> None:
        """Settle the line before an over-long sequence, so that resuming never reads the sequence again."""
        if not self.is_alternate:
            self.assembler.leave_line(token.start)
        self.assembler.begin_line(token.end)


_TOKEN_HANDLERS = {
    "run": TextDecoder._handle_run,
    "moves": TextDecoder._handle_moves,
    "erased": TextDecoder._handle_erased,
    "text": TextDecoder._handle_text,
    "control": TextDecoder._handle_control,
    "dropped": TextDecoder._handle_dropped,
    "csi": TextDecoder._handle_csi,
    "esc": TextDecoder._handle_esc,
    "osc": TextDecoder._handle_osc,
    "tmux": TextDecoder._handle_passthrough,
    "dcs": TextDecoder._limit_line,
    "nothing": TextDecoder._limit_line,
    "lost": TextDecoder._handle_lost,
    "skipped": TextDecoder._handle_lost,
}


def build_blocks(epoch: EpochId, lines: Sequence[SettledLine], texts: Sequence[str]) -> Iterator[TextBlock]:
    """Yield the blocks of consecutive lines; ``texts`` are their redacted texts."""
    first = size = 0
    for index, line in enumerate(lines):
        is_full = index - first >= _MAX_BLOCK_LINES or size > _MAX_BLOCK_CHARACTERS
        if index > first and (is_full or line.at - lines[first].at > _MAX_BLOCK_NS):
            yield _build_block(epoch, lines[first:index], texts[first:index])
            first, size = index, 0
        size += len(texts[index]) + 1
    if lines:
        yield _build_block(epoch, lines[first:], texts[first:])


def _build_block(epoch: EpochId, lines: Sequence[SettledLine], texts: Sequence[str]) -> TextBlock:
    head, tail = lines[0], lines[-1]
    return TextBlock(epoch=epoch, start=head.start, end=tail.end, at=head.at, until=tail.at, lines=tuple(texts))
