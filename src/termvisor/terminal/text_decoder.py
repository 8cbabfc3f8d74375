"""Decode the output of one epoch to settled lines and marks, and group lines into blocks.

In: deltas, in order and without holes. Out: a DecodedOutput for each. Invariant: the overall result depends only on the
bytes, their times and the resizes between them, not on how the bytes were split into deltas or how often a decoder was
rebuilt from a snapshot.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta, Mark, TextBlock
from termvisor.terminal.cell_writer import combine_cell, write_text
from termvisor.terminal.marks import parse_csi_marks, parse_osc_mark
from termvisor.terminal.output_runs import find_last_character, skip_erased, write_lines, write_run
from termvisor.terminal.overwritten_text import OverwrittenLine
from termvisor.terminal.row_window import FrozenScreen, LineAnchor, ProvisionalLine, RowWindow, SettledLine
from termvisor.terminal.tokenizer import ReadMode, TerminalToken, Tokenizer
from termvisor.terminal.window_controls import (
    apply_csi,
    apply_escape,
    apply_moves,
    move_back,
    move_to_tab_stop,
    parse_numbers,
)
from termvisor.terminal.window_lines import collect_provisional_lines, get_cursor_column, get_cursor_text, list_anchors
from termvisor.terminal.window_resize import resize_window, seed_window
from termvisor.terminal.window_snapshot import DecoderState, decode_snapshot, encode_snapshot

_ANCHORED_MARKS = frozenset({"prompt_start", "input_start", "command_start", "command_end"})
_PASSTHROUGH_PREFIX = b"tmux;"
_MAX_PRINTED = 64
_ESCAPED_BYTE = re.compile(rb"\x1b(.)", re.DOTALL)
# Number of bytes processed at once, to bound memory for a large delta.
_CHUNK_BYTES = 65536
_MAX_BLOCK_LINES, _MAX_BLOCK_CHARACTERS = 32, 2048
# Within a block, the times of lines are accurate to a second.
_MAX_BLOCK_NS = 1_000_000_000


class DecodedOutput(Struct, frozen=True):
    """Lines, marks and anchors that became certain. A mark's offset is just after its sequence."""

    lines: tuple[SettledLine, ...] = ()
    marks: tuple[Mark, ...] = ()
    overwritten: tuple[OverwrittenLine, ...] = ()
    """Text that was overwritten in lines that settle here or later; ``start`` is the start of its line."""
    anchors: tuple[LineAnchor, ...] = ()
    """Anchors whose line became final."""


class TextDecoder:
    """Decoder of one epoch's deltas. ``settled_count`` is the number of lines that earlier decoders settled."""

    __slots__ = ("_bell_end", "_marks", "_printed", "_tokenizer", "_window")

    def __init__(self, width: int, height: int, *, offset: int = 0, is_alternate: bool = False, settled_count: int = 0):
        window = RowWindow(width, height, offset)
        window.settled_count = settled_count
        if is_alternate:
            window.frozen = FrozenScreen(window.rows, 0, 0, window.width, window.height)
            window.rows, window.alternate_saved = [], (0, 0)
        self._window, self._tokenizer = window, Tokenizer(offset)
        self._marks: list[Mark] = []
        self._bell_end = -1
        self._printed = (-1, b"")
        """The end of the last run, and its last bytes."""

    @classmethod
    def load(cls, snapshot: bytes) -> "TextDecoder":
        """Return the decoder that snapshot() stored. Raises ValueError for damaged or foreign bytes."""
        state = decode_snapshot(snapshot)
        decoder = cls.__new__(cls)
        decoder._window, decoder._tokenizer, decoder._marks = state.window, state.tokenizer, []
        decoder._bell_end, decoder._printed = state.bell_end, state.printed
        return decoder

    def snapshot(self) -> bytes:
        """Return the whole state, with the bytes of an unfinished sequence. It is not redacted."""
        return encode_snapshot(DecoderState(self._window, self._tokenizer, self._bell_end, self._printed))

    def seed(
        self, rows: Sequence[str], cursor_x: int, cursor_y: int, *, begun: str = "", begun_column: int = 0
    ) -> None:
        """Show the lines that the pane shows already when the epoch begins; they are not settled again.

        Written to, such a line becomes a new one. If ``begun`` is given, it is the line at the cursor, which is not
        stored yet; the cursor is in its column ``begun_column``.
        """
        seed_window(self._window, rows, (cursor_x, cursor_y), begun, begun_column)

    def feed(self, delta: Delta) -> DecodedOutput:
        tokenizer = self._tokenizer
        if delta.offset != tokenizer.end:
            raise InternalError(f"delta at offset {delta.offset}, expected {tokenizer.end}")
        self._window.at, data = delta.at, delta.data
        if len(data) <= _CHUNK_BYTES:
            self._decode_chunk(data, delta.at)
        else:
            for start in range(0, len(data), _CHUNK_BYTES):
                self._decode_chunk(data[start : start + _CHUNK_BYTES], delta.at)
        return self._take_decoded()

    def _decode_chunk(self, data: bytes, at: int) -> None:
        tokenizer, window = self._tokenizer, self._window
        tokenizer.feed(data, at)
        while True:
            if window.x == 0 and window.frozen is None and self._skip_erased():
                continue
            mode = self._choose_mode()
            token = tokenizer.next_token(mode)
            if token is None:
                break
            if token.kind == "run":
                self._handle_run(token, mode)
            else:
                _TOKEN_HANDLERS[token.kind](self, token)
        tokenizer.discard_consumed()

    def _skip_erased(self) -> bool:
        """Skip text that is written to a blank row and erased again; return False if there is none."""
        token = self._tokenizer.read_erased() if self._window.is_row_fresh else None
        if token is None:
            return False
        if skip_erased(self._window, token.data, token.end):
            return True
        self._tokenizer.reread(token)
        return False

    def finish(self, at: int) -> DecodedOutput:
        """Settle every row down to the last text at the end of the epoch, and drop an unfinished sequence."""
        window, rest = self._window, self._tokenizer.unfinished_bytes
        window.at, window.offset = at, self._tokenizer.end
        if rest[:1] >= b"\x80" and window.frozen is None:
            combine_cell(window, "\ufffd", window.offset)
        is_alternate = self.is_alternate
        window.settle_remaining()
        if is_alternate:
            window.frozen = FrozenScreen(window.rows, 0, 0, window.width, window.height)
        known = {anchor.mark for anchor in window.final_anchors}
        if window.offset not in known:
            # Commands that are still running end here.
            window.final_anchors.append(LineAnchor(window.offset, window.settled_count))
        self._tokenizer = Tokenizer(window.offset)
        return self._take_decoded()

    def resize(self, width: int, height: int) -> DecodedOutput:
        """Change the size of the screen, as of the bytes fed so far; rows that no longer fit settle."""
        self._window.offset = self._tokenizer.position
        resize_window(self._window, width, height)
        return self._take_decoded()

    @property
    def size(self) -> tuple[int, int]:
        """Return the columns and rows of the screen."""
        return self._window.width, self._window.height

    @property
    def offset(self) -> int:
        """Return the offset of the next byte to feed."""
        return self._tokenizer.end

    @property
    def settled_count(self) -> int:
        """Return the number of lines settled since the epoch began."""
        return self._window.settled_count

    @property
    def is_alternate(self) -> bool:
        return self._window.frozen is not None

    @property
    def row_jumps(self) -> int:
        """Return the count of signs of repainting: moves to another row other than newlines, and erased pages."""
        return self._window.row_jumps

    @property
    def cursor_column(self) -> int:
        """Return the cursor's column in its line."""
        return get_cursor_column(self._window)

    @property
    def cursor_text(self) -> str:
        """Return the text of the line with the cursor; empty on the alternate screen."""
        return "" if self.is_alternate else get_cursor_text(self._window)

    def list_provisional_lines(self) -> list[ProvisionalLine]:
        """Return the unsettled lines in order; line ``i`` has the index ``settled_count + i``."""
        return collect_provisional_lines(self._window)

    def locate_anchors(self) -> list[LineAnchor]:
        """Return the anchors in the window, with the index that their line has now."""
        return list_anchors(self._window)

    def _choose_mode(self) -> ReadMode:
        window = self._window
        if window.frozen is not None:
            return "any" if window.frozen.is_followed else "marks"
        return "plain" if window.is_plain else "any"

    def _take_decoded(self) -> DecodedOutput:
        window = self._window
        decoded = DecodedOutput(
            tuple(window.settled_lines),
            tuple(self._marks),
            window.overwrites.take_overwritten(),
            tuple(window.final_anchors),
        )
        window.settled_lines.clear()
        window.final_anchors.clear()
        self._marks.clear()
        return decoded

    @property
    def _is_frozen(self) -> bool:
        """Return True if the alternate screen is shown and its rows are not kept."""
        frozen = self._window.frozen
        return frozen is not None and not frozen.is_followed

    def _add_mark(self, mark: Mark) -> None:
        if mark.kind in _ANCHORED_MARKS:
            self._window.add_anchor(mark.offset)
        if mark.kind == "input_start":
            mark = replace(mark, column=self.cursor_column)
        self._marks.append(mark)

    def _handle_run(self, token: TerminalToken, mode: ReadMode) -> None:
        if mode == "marks":
            return
        window, text, data = self._window, token.text, token.data
        if mode != "plain" or "\n" not in text or not write_lines(window, text, data, token.start):
            write_run(window, text, data, token.start)
        self._printed = (token.end, data[-_MAX_PRINTED:])

    def _handle_control(self, token: TerminalToken) -> None:
        if token.data[:1] == b"\a":
            # Consecutive bells are one, even if they are in different chunks.
            if token.start != self._bell_end:
                self._marks.append(Mark(kind="bell", offset=token.start + 1))
            self._bell_end = token.end
        elif not self._is_frozen:
            self._apply_controls(token.data, token.end - len(token.data))

    def _apply_controls(self, controls: bytes, start: int) -> None:
        """Apply control characters of one kind, or those inside a sequence that begins at ``start``."""
        window, first = self._window, controls[:1]
        if first in _REPEATABLE_CONTROLS and controls == first * len(controls):
            _REPEATABLE_CONTROLS[first](window, len(controls))
            return
        for index, byte in enumerate(controls):
            control = bytes((byte,))
            if control in b"\n\v\f":
                window.feed_line(start + index + 1)
            elif control in _REPEATABLE_CONTROLS:
                _REPEATABLE_CONTROLS[control](window, 1)

    def _handle_csi(self, token: TerminalToken) -> None:
        self._begin_sequence(token)
        if token.data[:1] in (b"?", b"!"):
            for mark in parse_csi_marks(token.data, token.text, token.end):
                self._add_mark(mark)
        if token.text == "b":
            self._repeat_character(token)
        elif not self._is_frozen or token.text in "hl":
            apply_csi(self._window, token.data, token.text)

    def _handle_moves(self, token: TerminalToken) -> None:
        # Of the sequences that are read in a frozen screen, none moves its cursor.
        apply_moves(self._window, token.data, token.start)

    def _repeat_character(self, token: TerminalToken) -> None:
        """Apply REP, which tmux does only right behind a printed ASCII character."""
        offset, printed = self._printed
        numbers, window = parse_numbers(token.data), self._window
        character = find_last_character(printed) if offset == token.start else ""
        if not character or numbers is None or self._is_frozen:
            return
        count = min(max(numbers[0] if numbers else 1, 1), window.width - window.x)
        write_text(window, character * count, character.encode() * count, token.start)

    def _handle_esc(self, token: TerminalToken) -> None:
        self._begin_sequence(token)
        if token.text == "c" and not token.data:
            self._add_mark(Mark(kind="reset", offset=token.end))
            if self._is_frozen:
                self._window.reset_modes()
        if not self._is_frozen:
            apply_escape(self._window, token.data, token.text)

    def _begin_sequence(self, token: TerminalToken) -> None:
        """Apply the control characters inside a sequence, before the sequence itself."""
        self._window.offset = token.end
        if token.controls:
            for byte in token.controls:
                control = TerminalToken("control", token.start, token.end, data=bytes((byte,)))
                self._handle_control(control)
            self._window.offset = token.end

    def _handle_osc(self, token: TerminalToken) -> None:
        self._begin_sequence(token)
        mark = parse_osc_mark(token.data, token.end)
        if mark is not None:
            self._add_mark(mark)

    def _handle_dcs(self, token: TerminalToken) -> None:
        """Read the marks inside a tmux passthrough. Its text and modes belong to the outer terminal."""
        self._begin_sequence(token)
        if not token.data.startswith(_PASSTHROUGH_PREFIX):
            return
        inner_tokenizer = Tokenizer()
        inner_tokenizer.feed(_ESCAPED_BYTE.sub(rb"\1", token.data.removeprefix(_PASSTHROUGH_PREFIX)), 0)
        while (inner_token := inner_tokenizer.next_token("marks")) is not None:
            if inner_token.kind == "control" and inner_token.data.startswith(b"\a"):
                self._add_mark(Mark(kind="bell", offset=token.end))
            elif inner_token.kind == "osc" and (mark := parse_osc_mark(inner_token.data, token.end)):
                self._add_mark(mark)

    def _ignore(self, token: TerminalToken) -> None:
        """Ignore a sequence that shows nothing."""


def _return_carriage(window: RowWindow, _count: int) -> None:
    window.x, window.is_moved = 0, True


_REPEATABLE_CONTROLS = {b"\r": _return_carriage, b"\b": move_back, b"\t": move_to_tab_stop}
_TOKEN_HANDLERS = {
    "moves": TextDecoder._handle_moves,
    "control": TextDecoder._handle_control,
    "csi": TextDecoder._handle_csi,
    "esc": TextDecoder._handle_esc,
    "osc": TextDecoder._handle_osc,
    "dcs": TextDecoder._handle_dcs,
    "string": TextDecoder._begin_sequence,
    "nothing": TextDecoder._begin_sequence,
    "lost": TextDecoder._ignore,
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
