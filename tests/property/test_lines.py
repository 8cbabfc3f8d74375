"""Laws of lines: plain text comes out as it went in, and overwriting shows what a row of cells would show."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.terminal.decoder_driver import decode

PLAIN = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=60)
SGR = st.sampled_from(["", "\x1b[31m", "\x1b[0m", "\x1b[38;5;9m", "\x1b[K"])


class Cells:
    """A row of a terminal, as slow and plain as can be."""

    def __init__(self) -> None:
        self.row: dict[int, str] = {}
        self.column = 0

    def text(self, text: str) -> str:
        for character in text:
            self.row[self.column] = character
            self.column += 1
        return text

    def back(self, count: int) -> str:
        self.column = max(0, self.column - count)
        return f"\x1b[{count}D"

    def forward(self, count: int) -> str:
        self.column += count
        return f"\x1b[{count}C"

    def go(self, column: int) -> str:
        self.column = column
        return f"\x1b[{column + 1}G"

    def tab(self, _: int) -> str:
        self.column = self.column // 8 * 8 + 8
        return "\t"

    def erase(self, _: int) -> str:
        self.row = {column: character for column, character in self.row.items() if column < self.column}
        return "\x1b[K"

    def erase_before(self, _: int) -> str:
        self.row = {column: character for column, character in self.row.items() if column > self.column}
        return "\x1b[1K"

    def blank(self, count: int) -> str:
        self.row = {at: character for at, character in self.row.items() if not self.column <= at < self.column + count}
        return f"\x1b[{count}X"

    def delete(self, count: int) -> str:
        kept = {at: character for at, character in self.row.items() if at < self.column}
        moved = {at - count: character for at, character in self.row.items() if at >= self.column + count}
        self.row = kept | moved
        return f"\x1b[{count}P"

    def insert(self, count: int) -> str:
        self.row = {at + count * (at >= self.column): character for at, character in self.row.items()}
        return f"\x1b[{count}@"

    @property
    def shown(self) -> str:
        width = max(self.row, default=-1) + 1
        return "".join(self.row.get(column, " ") for column in range(width)).rstrip(" ")


MOVES = ["back", "forward", "go", "tab", "erase", "erase_before", "blank", "delete", "insert"]
STEPS = st.one_of(
    st.tuples(st.just("text"), st.text("abcXYZé─ ", min_size=1, max_size=12)),
    st.tuples(st.sampled_from(MOVES), st.integers(1, 12)),
)


@given(st.lists(STEPS, max_size=25))
def test_overwriting_shows_what_cells_would_show(steps: list[tuple[str, str | int]]) -> None:
    cells = Cells()
    data = "".join(getattr(cells, name)(argument) for name, argument in steps)
    assert decode(data.encode() + b"\r\n").texts == [cells.shown]


@given(st.lists(PLAIN, max_size=30), st.sampled_from(["\n", "\r\n", "\r\r\n"]), st.data())
def test_plain_lines_come_out_as_they_went_in(lines: list[str], newline: str, data: st.DataObject) -> None:
    painted = [data.draw(SGR) + line + data.draw(SGR) for line in lines]
    story = decode("".join(line + newline for line in painted).encode())
    assert story.texts == [line.rstrip(" ") for line in lines]


@given(st.lists(PLAIN, max_size=30))
def test_lines_lie_end_to_end(lines: list[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    rows = decode(data).rows
    assert [start for _, start, _ in rows] == [0, *(end for _, _, end in rows)][: len(rows)]
    assert [data[start:end].decode() for _, start, end in rows] == [f"{line}\n" for line in lines]
