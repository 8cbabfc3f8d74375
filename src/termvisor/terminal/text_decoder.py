"""Deltas of one epoch become settled lines and marks.

In: Deltas, in order and without holes. Out: a Derived for each. Invariant: what is given out in all depends on the
bytes only, not on how they were cut into deltas, nor on how often a stage was built from ``checkpoint`` on the way.
"""

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import Broken
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import Delta
from termvisor.terminal.line_assembler import LineAssembly, Settled
from termvisor.terminal.osc_marks import mark_of_osc, marks_of_csi
from termvisor.terminal.overwritten_text import Covered
from termvisor.terminal.tokenizer import Reading, SequenceKind, Token, Tokenizer

__all__ = ["Derived", "Settled", "TextStage", "carry_for"]

_HAS_ROW = frozenset({"prompt_start", "input_start", "command_start", "command_end"})
_BITE = 65536  # what is worked on at once, however large a delta is


class Derived(Struct, frozen=True):
    """What became certain. A mark's offset is just after its sequence."""

    lines: tuple[Settled, ...] = ()
    marks: tuple[Mark, ...] = ()
    covered: tuple[Covered, ...] = ()
    """What was written over in lines that end here or later."""


class _Carry(Struct, frozen=True, omit_defaults=True):
    """What must be known to go on: modes and counters, never text, because it is stored unredacted."""

    alternate: bool = False
    skipping: SequenceKind | None = None
    reported_to: int = 0
    rung_to: int = 0


def carry_for(*, is_alternate: bool) -> bytes:
    """The carry of a stream that is first heard while its pane shows, or does not show, the alternate screen."""
    return msgspec.json.encode(_Carry(alternate=is_alternate))


class TextStage:
    """Feed it the deltas of one epoch; ``TextStage(*checkpoint)`` goes on where another stage stood."""

    def __init__(self, offset: int = 0, carry: bytes = b""):
        known = msgspec.json.decode(carry, type=_Carry) if carry else _Carry()
        self.is_alternate = known.alternate
        self._reported_to = known.reported_to
        self._rung_to = known.rung_to
        self._tokens = Tokenizer(offset, known.skipping)
        self._lines = LineAssembly(offset)
        self._marks: list[Mark] = []

    def preset(self, text: str, column: int) -> None:
        """Before the first byte: the row of the cursor shows this text already, with the cursor in this column."""
        self._lines.preset(text, column)

    @property
    def pending(self) -> str:
        """The unfinished line as it is shown now, up to its last whole character."""
        return self._lines.text

    @property
    def width(self) -> int:
        """Columns of the pane, 0 where they are not known; set before the bytes that were printed at that width."""
        return self._lines.width

    @width.setter
    def width(self, columns: int) -> None:
        self._lines.width = columns

    @property
    def leaps(self) -> int:
        """How often a program on the main screen went back to rows that it had left: it repaints."""
        return self._lines.leaps

    @property
    def row(self) -> int:
        """No line that is yet to come begins before this offset."""
        is_between = self.is_alternate or self._tokens.skipping is not None
        return self._tokens.position if is_between else self._lines.start

    def feed(self, delta: Delta) -> Derived:
        expected = self._tokens.position + len(self._tokens.rest)
        if delta.offset != expected:
            raise Broken(f"a delta at {delta.offset} came where {expected} was next")
        self._lines.at = delta.at
        for start in range(0, len(delta.data), _BITE):
            self._tokens.take(delta.data[start : start + _BITE])
            while (token := self._tokens.next(self._reading())) is not None:
                _TAKE[token.kind](self, token)
        self._tokens.forget()
        return self._derived()

    def finish(self, at: int) -> Derived:
        """Nothing more will come: the unfinished line is settled, an unfinished sequence is dropped."""
        rest, position = self._tokens.rest, self._tokens.position
        end = position + len(rest)
        self._lines.at = at
        if not self.is_alternate and self._tokens.skipping is None:
            if rest[:1] >= b"\xa0":
                self._lines.write(Token("text", position, end, "\ufffd", rest))
            self._lines.leave(end)
        self._tokens = Tokenizer(end)
        self._lines.begin(end)
        return self._derived()

    def checkpoint(self) -> tuple[int, bytes]:
        """Where to read on from, and with which carry, so that nothing is given out twice and nothing is missing."""
        carry = _Carry(
            alternate=self.is_alternate,
            skipping=self._tokens.skipping,
            reported_to=max(self._tokens.position, self._reported_to),
            rung_to=self._rung_to,
        )
        return self.row, msgspec.json.encode(carry)

    def _reading(self) -> Reading:
        if self.is_alternate:
            return "marks"
        if self._lines.is_empty:
            return "fresh"
        return "lines" if self._lines.is_plain else "exact"

    def _derived(self) -> Derived:
        derived = Derived(tuple(self._lines.settled), tuple(self._marks), self._lines.covering.take())
        self._lines.settled.clear()
        self._marks.clear()
        return derived

    def _mark(self, mark: Mark) -> None:
        if mark.offset > self._reported_to:
            self._marks.append(replace(mark, row=self._row_at(mark.offset)) if mark.kind in _HAS_ROW else mark)

    def _row_at(self, offset: int) -> int:
        return offset if self.is_alternate or self._lines.text else self._lines.start

    def _run(self, token: Token) -> None:
        if not self.is_alternate and not self._lines.add(token):
            self._tokens.give_back(token)

    def _erased(self, token: Token) -> None:
        if not self._lines.start_over(token):
            self._tokens.give_back(token)

    def _moves(self, token: Token) -> None:
        self._lines.leaps += 1
        self._lines.begin(token.end)

    def _text(self, token: Token) -> None:
        if not self.is_alternate:
            self._lines.write(token)

    def _control(self, token: Token) -> None:
        if token.data.startswith(b"\a"):
            self._ring(token)
        if not self.is_alternate:
            self._lines.control(token)

    def _ring(self, token: Token) -> None:
        """Bells in a row are one, wherever they were cut."""
        if token.start != self._rung_to:
            self._mark(Mark(kind="bell", offset=token.start + 1))
        self._rung_to = token.end

    def _dropped(self, token: Token) -> None:
        if not self.is_alternate:
            self._lines.pass_over(token.start, token.end)

    def _csi(self, token: Token) -> None:
        self._bound(token)
        marks = marks_of_csi(token.data, token.text, token.end) if token.data[:1] in (b"?", b"!") else ()
        for mark in marks:
            self._mark(mark)
            if mark.kind in ("alt_screen_on", "alt_screen_off"):
                self._switch(mark.kind == "alt_screen_on", token)
        if not marks:
            self._move(token)

    def _esc(self, token: Token) -> None:
        self._bound(token)
        if token.text == "c" and not token.data:
            self._mark(Mark(kind="reset", offset=token.end))
            self._switch(False, token)
        self._move(token)

    def _move(self, token: Token) -> None:
        if not self.is_alternate:
            self._lines.sequence(token)

    def _switch(self, is_alternate: bool, token: Token) -> None:
        if not self.is_alternate:
            self._lines.leave(token.end)
        self.is_alternate = is_alternate
        self._lines.begin(token.end)

    def _osc(self, token: Token) -> None:
        mark = mark_of_osc(token.data, token.end)
        if mark is not None and mark.kind == "input_start":
            mark = replace(mark, column=self._lines.column)
        if mark is not None:
            self._mark(mark)
        self._bound(token)

    def _passthrough(self, token: Token) -> None:
        """What tmux hands to the outer terminal: its signs are for us too, its text and modes are not this pane's."""
        inner = Tokenizer()
        inner.take(token.data.removeprefix(b"tmux;").replace(b"\x1b\x1b", b"\x1b"))
        while (wrapped := inner.next("marks")) is not None:
            if wrapped.kind == "control" and wrapped.data.startswith(b"\a"):
                self._mark(Mark(kind="bell", offset=token.end))
            elif wrapped.kind == "osc" and (mark := mark_of_osc(wrapped.data, token.end)):
                self._mark(mark)
        self._bound(token)

    def _bound(self, token: Token) -> None:
        if not self.is_alternate:
            self._lines.bound(token.start)

    def _lose(self, token: Token) -> None:
        """The line is settled before a sequence too long to be read again."""
        if not self.is_alternate:
            self._lines.leave(token.start)
        self._lines.begin(token.end)


_TAKE = {
    "run": TextStage._run,
    "moves": TextStage._moves,
    "erased": TextStage._erased,
    "text": TextStage._text,
    "control": TextStage._control,
    "dropped": TextStage._dropped,
    "csi": TextStage._csi,
    "esc": TextStage._esc,
    "osc": TextStage._osc,
    "tmux": TextStage._passthrough,
    "dcs": TextStage._bound,
    "nothing": TextStage._bound,
    "lost": TextStage._lose,
    "skipped": TextStage._lose,
}
