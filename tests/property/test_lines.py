"""Rows and lines: plain text is unchanged, and random terminal programs give the text of a simple emulator."""

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.example_count import build_settings
from tests.property.cell_screen import WIDE, CellScreen
from tests.unit.terminal.decoder_driver import decode

PLAIN = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Mn", "Me", "Cf", "Cn", "Zl", "Zp"), max_codepoint=0x10FF),
    max_size=60,
)
SGR = st.sampled_from(["", "\x1b[31m", "\x1b[0m", "\x1b[38;5;9m", "\x1b[K"])
STEPS = [
    "feed_line", "begin_line", "begin_line", "return_carriage", "go_back", "go_to_tab_stop", "move_up", "move_down",
    "move_right", "move_left", "move_to_column", "move_to_row", "move_to", "save_cursor", "restore_cursor",
    "erase_to_end", "erase_to_start", "erase_row", "erase_below", "clear_screen", "erase_characters",
    "delete_characters", "reverse_feed", "scroll_up", "set_region",
]  # fmt: skip
PROGRAMS = st.lists(
    st.tuples(st.just("write"), st.text("abcXYZé─ ", min_size=1, max_size=30))
    | st.tuples(st.just("write"), st.text(f"ab{WIDE}", min_size=1, max_size=9))
    | st.tuples(st.sampled_from(STEPS), st.integers(1, 12)),
    max_size=30,
)


def strip_blank_lines(texts: list[str]) -> list[str]:
    """Return the lines down to the last one with text."""
    return texts[: max((number + 1 for number, text in enumerate(texts) if text), default=0)]


SIZES = st.sampled_from([(80, 24), (20, 6), (10, 4), (7, 3)])


@build_settings(400)
@given(PROGRAMS, SIZES)
def test_a_terminal_program_gives_the_text_of_a_simple_emulator(
    program: list[tuple[str, str | int]], size: tuple[int, int]
) -> None:
    screen = CellScreen(*size)
    data = b"".join(getattr(screen, name)(argument) for name, argument in program)
    assert strip_blank_lines(decode(data, width=size[0], height=size[1]).texts) == screen.list_lines()


@given(st.lists(PLAIN, max_size=60), st.sampled_from(["\r\n", "\r\r\n"]), st.data())
def test_plain_lines_are_decoded_unchanged(lines: list[str], newline: str, data: st.DataObject) -> None:
    styled = [data.draw(SGR) + line + data.draw(SGR) for line in lines]
    decoded = decode("".join(line + newline for line in [*styled, "end"]).encode())
    assert decoded.texts == [*(line.rstrip(" ") for line in lines), "end"]


@given(st.lists(PLAIN, max_size=60))
def test_line_offsets_are_contiguous(lines: list[str]) -> None:
    data = "".join(f"{line}\r\n" for line in [*lines, "end"]).encode()
    spans = decode(data).rows
    assert [start for _, start, _ in spans] == [0, *(end for _, _, end in spans)][: len(spans)]
    assert [data[start:end].decode() for _, start, end in spans] == [f"{line}\r\n" for line in [*lines, "end"]]
