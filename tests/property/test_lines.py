"""Line assembly: plain text is unchanged, and overwritten text equals a simulated row of terminal cells."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.terminal.decoder_driver import decode

PLAIN = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=60)
SGR = st.sampled_from(["", "\x1b[31m", "\x1b[0m", "\x1b[38;5;9m", "\x1b[K"])


class CellRow:
    """A simple reference model of one terminal row."""

    def __init__(self) -> None:
        self.cells: dict[int, str] = {}
        self.column = 0

    def write_text(self, characters: str) -> str:
        for character in characters:
            self.cells[self.column] = character
            self.column += 1
        return characters

    def move_back(self, count: int) -> str:
        self.column = max(0, self.column - count)
        return f"\x1b[{count}D"

    def move_forward(self, count: int) -> str:
        self.column += count
        return f"\x1b[{count}C"

    def move_to(self, column: int) -> str:
        self.column = column
        return f"\x1b[{column + 1}G"

    def move_to_tab_stop(self, _: int) -> str:
        self.column = self.column // 8 * 8 + 8
        return "\t"

    def erase_to_end(self, _: int) -> str:
        self.cells = {column: character for column, character in self.cells.items() if column < self.column}
        return "\x1b[K"

    def erase_before(self, _: int) -> str:
        self.cells = {column: character for column, character in self.cells.items() if column > self.column}
        return "\x1b[1K"

    def erase_characters(self, count: int) -> str:
        self.cells = {
            at: character for at, character in self.cells.items() if not self.column <= at < self.column + count
        }
        return f"\x1b[{count}X"

    def delete_characters(self, count: int) -> str:
        kept = {at: character for at, character in self.cells.items() if at < self.column}
        moved = {at - count: character for at, character in self.cells.items() if at >= self.column + count}
        self.cells = kept | moved
        return f"\x1b[{count}P"

    def insert_blanks(self, count: int) -> str:
        self.cells = {at + count * (at >= self.column): character for at, character in self.cells.items()}
        return f"\x1b[{count}@"

    @property
    def visible_text(self) -> str:
        width = max(self.cells, default=-1) + 1
        return "".join(self.cells.get(column, " ") for column in range(width)).rstrip(" ")


MOVES = [
    "move_back",
    "move_forward",
    "move_to",
    "move_to_tab_stop",
    "erase_to_end",
    "erase_before",
    "erase_characters",
    "delete_characters",
    "insert_blanks",
]
STEPS = st.one_of(
    st.tuples(st.just("write_text"), st.text("abcXYZé─ ", min_size=1, max_size=12)),
    st.tuples(st.sampled_from(MOVES), st.integers(1, 12)),
)


@given(st.lists(STEPS, max_size=25))
def test_an_overwritten_line_reads_like_a_row_of_terminal_cells(steps: list[tuple[str, str | int]]) -> None:
    row = CellRow()
    data = "".join(getattr(row, name)(argument) for name, argument in steps)
    assert decode(data.encode() + b"\r\n").texts == [row.visible_text]


@given(st.lists(PLAIN, max_size=30), st.sampled_from(["\n", "\r\n", "\r\r\n"]), st.data())
def test_plain_lines_are_decoded_unchanged(lines: list[str], newline: str, data: st.DataObject) -> None:
    styled = [data.draw(SGR) + line + data.draw(SGR) for line in lines]
    decoded = decode("".join(line + newline for line in styled).encode())
    assert decoded.texts == [line.rstrip(" ") for line in lines]


@given(st.lists(PLAIN, max_size=30))
def test_line_offsets_are_contiguous(lines: list[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    spans = decode(data).rows
    assert [start for _, start, _ in spans] == [0, *(end for _, _, end in spans)][: len(spans)]
    assert [data[start:end].decode() for _, start, end in spans] == [f"{line}\n" for line in lines]
