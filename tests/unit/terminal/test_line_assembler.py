"""Assemble lines from text and cursor movements."""

import unicodedata

import pytest

from termvisor.terminal.line_assembler import LINE_LIMIT, RAW_LIMIT, LineAssembler
from termvisor.terminal.text_decoder import TextDecoder
from tests.unit.terminal.decoder_driver import build_delta, decode

SHOWN = [
    ("overwritten after CR", b"hello\rJ", "Jello"),
    ("CR before the newline", b"hello\r\r", "hello"),
    ("backspace overstrike", b"N\bNA\bAM\bME\bE", "NAME"),
    ("underlined overstrike", b"_\bN_\bA", "NA"),
    ("backspace at the margin", b"\b\bx", "x"),
    ("backspace, blank, backspace", b"lsx\b \b", "ls"),
    ("tab stops", b"a\tbc\td", "a       bc      d"),
    ("a tab over text only moves", b"abcdefghij\r\tX", "abcdefghXj"),
    ("several tabs", b"a\t\t\tb", "a" + " " * 23 + "b"),
    ("several backspaces", b"abcdef\b\b\b\bX", "abXdef"),
    (
        "a backspace from far out comes back to the farthest column",
        b"a\r" + b"\t" * 70 + b"\b\bX",
        "a" + " " * 509 + "X",
    ),
    ("several carriage returns", b"hello\r\r\rJ", "Jello"),
    ("tab after wide text", "日本\tx".encode(), "日本    x"),
    ("erase to the end", b"abcdef\x1b[3D\x1b[K", "abc"),
    ("erase to the start", b"abcdef\x1b[3D\x1b[1K", "    ef"),
    ("erase the line", b"abcdef\x1b[2Kx", "      x"),
    ("erase below is erase to the end", b"20%\r\x1b[J30%", "30%"),
    ("forward leaves a hole", b"a\x1b[3Cb", "a   b"),
    ("back", b"abc\x1b[2DX", "aXc"),
    ("to a column", b"abc\x1b[2GX\x1b[1`Y", "YXc"),
    ("far back is the margin", b"abc\x1b[99999DX", "Xbc"),
    ("far forward has an end", b"a\x1b[99999999C", "a"),
    ("delete", b"abcdef\r\x1b[2P", "cdef"),
    ("insert", b"abc\r\x1b[2@X", "X abc"),
    ("erase characters", b"abcdef\r\x1b[2X", "  cdef"),
    ("save and restore", b"ab\x1b7cd\x1b8X", "abXd"),
    ("colours", b"\x1b[1;31mred\x1b[0m and \x1b[38:2:1:2:3mmore\x1b[m", "red and more"),
    ("private forms are no movement", b"ab\x1b[?2K\x1b[>1u\x1b[2 q\x1b#8c", "abc"),
    ("controls are dropped", b"a\x00b\x7fc\x0b\x0cd\x0e\x0fe", "abcde"),
    ("half a wide character is a blank", "日本\r\x1b[1CX".encode(), " X本"),
    ("the other half, too", "日本\rX".encode(), "X 本"),
    ("wide over narrow", "abcd\r日".encode(), "日cd"),
    ("trailing blanks", b"a  \t  ", "a"),
    ("a hyperlink", b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("a screen title", b"\x1bkvim\x1b\\text", "text"),
]


@pytest.mark.parametrize(("data", "text"), [case[1:] for case in SHOWN], ids=[case[0] for case in SHOWN])
def test_a_line_is_what_a_terminal_would_show(data: bytes, text: str) -> None:
    assert decode(data + b"\n").texts == [text]


@pytest.mark.parametrize("move", [b"\x1b[A", b"\x1b[2B", b"\x1b[E", b"\x1b[F", b"\x1b[3;4H", b"\x1b[f", b"\x1b[5d"])
def test_a_row_jump_settles_the_line(move: bytes) -> None:
    assert decode(b"here" + move + b"there\n").texts == ["here", "there"]


@pytest.mark.parametrize("move", [b"\x1b[2J", b"\x1b[L", b"\x1b[M", b"\x1b[S", b"\x1b[T", b"\x1bM", b"\x1bD", b"\x1b8"])
def test_a_repaint_settles_the_line(move: bytes) -> None:
    assert decode(b"here" + move + b"there\n").texts == ["here", "there"]


def test_a_row_jump_from_an_empty_line_settles_nothing() -> None:
    assert decode(b"\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[Gnew\n").texts == ["new"]


def test_numbered_lines_are_unchanged() -> None:
    lines = [f"line {number}" for number in range(5000)]
    assert decode("".join(f"{line}\r\n" for line in lines).encode()).texts == lines


def test_blank_lines_are_lines() -> None:
    assert decode(b"\n\r\na\n\n").texts == ["", "", "a", ""]


def test_a_line_has_its_byte_offsets() -> None:
    assert decode("ä\r\n\x1b[1mb\x1b[m\n\nc".encode()).rows == (("ä", 0, 4), ("b", 4, 13), ("", 13, 14), ("c", 14, 15))


def test_a_line_has_the_time_of_the_delta_that_completed_it() -> None:
    stage = TextDecoder()
    stage.feed(build_delta(b"one", 0, 10))
    assert [line.at for line in stage.feed(build_delta(b"\ntwo\nthree", 3, 20)).lines] == [20, 20]
    assert [line.at for line in stage.finish(30).lines] == [30]


def test_a_progress_bar_is_one_line() -> None:
    bar = b"".join(b"\rDownloading %3d%% [%-10s]\x1b[K" % (done, b"#" * (done // 10)) for done in range(101))
    assert decode(bar + b"\r\x1b[KSaved wheel.whl\r\n").texts == ["Saved wheel.whl"]
    assert decode(bar + b"\r\n").texts == ["Downloading 100% [##########]"]


def test_cargo_redraws_its_last_line_below_the_log() -> None:
    data = (
        b"   Compiling a v1\r\n    Building [=> ] 1/3: b\r\x1b[K   Compiling b v1\r\n    Building [==>] 2/3: c\r\x1b[K"
    )
    assert decode(data + b"    Finished dev\r\n").texts == [
        "   Compiling a v1",
        "   Compiling b v1",
        "    Finished dev",
    ]


def test_an_apt_progress_bar_does_not_change_the_lines() -> None:
    bar = b"\x1b7\x1b[24;0f\x1b[42m\x1b[30mProgress: [ 50%]\x1b[49m\x1b[39m [##..] \x1b8"
    assert decode(b"Unpacking x ...\r\n" + bar + b"Setting up x ...\r\n").texts == [
        "Unpacking x ...",
        "Progress: [ 50%] [##..]",
        "Setting up x ...",
    ]


@pytest.mark.parametrize("character", ["x", "é", "日", "😀"])
def test_an_endless_line_is_cut_at_the_limit(character: str) -> None:
    size = len(character.encode())
    rows = decode((character * (2 * LINE_LIMIT + 5) + "\n").encode()).rows
    assert [(len(text), start, end) for text, start, end in rows] == [
        (LINE_LIMIT, 0, LINE_LIMIT * size),
        (LINE_LIMIT, LINE_LIMIT * size, 2 * LINE_LIMIT * size),
        (5, 2 * LINE_LIMIT * size, (2 * LINE_LIMIT + 5) * size + 1),
    ]


def test_a_line_just_at_the_limit_is_not_cut() -> None:
    assert [len(text) for text in decode(b"x" * LINE_LIMIT + b"\r\nnext\n").texts] == [LINE_LIMIT, 4]


def test_a_line_of_many_overwrites_is_cut_between_two_of_them() -> None:
    rows = decode(b"".join(b"\rstep %04d" % number for number in range(10_000))).rows
    assert {len(text) for text, _, _ in rows} == {len("step 0000")}
    assert max(end - start for _, start, end in rows) <= RAW_LIMIT


@pytest.mark.parametrize(
    "silence", [b"\x00", b"\x1b[m", b"\x1b[5n", b"\x1b]1;x\x07", b"\x07", b"\r", b"\x1b[?2004h", b"\x1b[12\x18"]
)
def test_invisible_output_does_not_delay_the_checkpoint(silence: bytes) -> None:
    stage = TextDecoder()
    data = silence * (2 * RAW_LIMIT // len(silence))
    assert stage.feed(build_delta(data)).lines == ()
    assert len(data) - stage.build_checkpoint()[0] <= RAW_LIMIT


def test_an_overwritten_wide_character_takes_two_columns() -> None:
    """Check both ends of every range and every sixteenth character within."""
    assigned = (chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs"))
    wide = [character for character in assigned if unicodedata.east_asian_width(character) in "WF"]
    inside = {chr(ord(character) + 1) for character in wide} & {chr(ord(character) - 1) for character in wide}
    sample = [character for character in wide if character not in inside or ord(character) % 16 == 0]
    assert set(decode("".join(f"{character}\bX\n" for character in sample).encode()).texts) == {" X"}


def test_an_assembly_starts_empty() -> None:
    lines = LineAssembler(5)
    assert (lines.start, lines.text, lines.is_empty, lines.is_plain) == (5, "", True, True)
