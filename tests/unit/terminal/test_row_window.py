"""Rows change as in tmux, and settle when they leave the window."""

import re
import unicodedata

import pytest

from termvisor.terminal.screen_row import LINE_LIMIT
from termvisor.terminal.text_decoder import TextDecoder
from tests.unit.terminal.decoder_driver import build_decoder, build_delta, decode
from tests.unit.terminal.terminal_seeds import HEIGHT, SEEDS, WIDTHS, SeedSequence

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
    ("a tab ends before the last column", b"a" + b"\t" * 20 + b"b", "a" + " " * 78 + "b"),
    ("tab stops that were set", b"a\x1b[3g\x1b[4G\x1bH\rb\tc", "b  c"),
    ("several backspaces", b"abcdef\b\b\b\bX", "abXdef"),
    ("several carriage returns", b"hello\r\r\rJ", "Jello"),
    ("tab after wide text", "日本\tx".encode(), "日本    x"),
    ("erase to the end", b"abcdef\x1b[3D\x1b[K", "abc"),
    ("erase to the start", b"abcdef\x1b[3D\x1b[1K", "    ef"),
    ("erase the line", b"abcdef\x1b[2Kx", "      x"),
    ("erase below erases to the end", b"20%\r\n30%\x1b[A\r\x1b[1C\x1b[J", "2"),
    ("forward leaves a hole", b"a\x1b[3Cb", "a   b"),
    ("back", b"abc\x1b[2DX", "aXc"),
    ("to a column", b"abc\x1b[2GX\x1b[1`Y", "YXc"),
    ("far back is the margin", b"abc\x1b[99999DX", "Xbc"),
    ("far forward has an end", b"a\x1b[99999999C", "a"),
    ("delete", b"abcdef\r\x1b[2P", "cdef"),
    ("insert", b"abc\r\x1b[2@X", "X abc"),
    ("erase characters", b"abcdef\r\x1b[2X", "  cdef"),
    ("save and restore", b"ab\x1b7cd\x1b8X", "abXd"),
    ("repeat after a colour", b"ab\x1b[m\x1b[3bc", "abc"),
    ("colours", b"\x1b[1;31mred\x1b[0m and \x1b[38:2:1:2:3mmore\x1b[m", "red and more"),
    ("private forms are no movement", b"ab\x1b[?2K\x1b[>1u\x1b[2 q\x1b%Gc", "abc"),
    ("controls are dropped", b"a\x00b\x7fc\x0e\x0fe", "abce"),
    ("the alignment test", b"\x1b#8\x1b[H\x1b[J", "E" * 80),
    ("half a wide character is a blank", "a日本\r\x1b[2CX".encode(), "a X本"),
    ("the other half, too", "日本\rX".encode(), "X 本"),
    ("wide over narrow", "abcd\r日".encode(), "日cd"),
    ("an emoji sequence is one cell", "👩\u200d🔬\r\x1b[2Cx".encode(), "👩\u200d🔬x"),
    ("a combined character goes with its cell", "e\u0301x\r\x1b[@".encode(), " e\u0301x"),
    ("a combined character is overwritten", "e\u0301x\ra".encode(), "ax"),
    ("a cell holds 21 bytes", ("e" + "\u0301" * 20 + "x").encode(), "e" + "\u0301" * 10 + "x"),
    ("bytes that are no text", b"a\xffb", "a\ufffdb"),
    ("a replacement character that was printed", "\ufffdb\rX".encode(), "Xb"),
    ("trailing blanks", b"a  \t  ", "a"),
    ("a hyperlink", b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("a screen title", b"\x1bkvim\x1b\\text", "text"),
    ("line separators show nothing", "a\u2028b".encode(), "ab"),
]


@pytest.mark.parametrize(("data", "text"), [case[1:] for case in SHOWN], ids=[case[0] for case in SHOWN])
def test_a_line_is_what_a_terminal_shows(data: bytes, text: str) -> None:
    assert decode(data + b"\r\n").texts[0] == text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seed", SEEDS, ids=[repr(seed.data)[2:-1] for seed in SEEDS])
def test_the_text_is_that_of_tmux(seed: SeedSequence, width: int) -> None:
    texts = decode(seed.encode(), width=width, height=HEIGHT).texts
    assert [text.replace("\ufffd", "") for text in texts] == seed.list_lines(width)


MOVES = [
    (b"\x1b[A", ["one", "there"]),
    (b"\x1b[2B", ["one", "two", "", "", "there"]),
    (b"\x1b[E", ["one", "two", "", "there"]),
    (b"\x1b[2F", ["there", "two"]),
    (b"\x1b[3;5H", ["one", "two", "    there"]),
    (b"\x1b[f", ["there", "two"]),
    (b"\x1b[5d", ["one", "two", "", "", "there"]),
    (b"\x1bM\x1bM\x1bM", ["there", "one", "two"]),
    (b"\x1b[H\x1b[L", ["there", "one", "two"]),
    (b"\x1b[H\x1b[M", ["there"]),
    (b"\x1b[H\x1b[S", ["one", "there"]),
    (b"\x1b[H\x1b[T", ["there", "one", "two"]),
]


@pytest.mark.parametrize(("move", "lines"), MOVES, ids=[repr(move)[2:-1] for move, _ in MOVES])
def test_rows_are_rewritten_in_place(move: bytes, lines: list[str]) -> None:
    texts = decode(b"one\r\ntwo\r\n" + move + b"there\x1b[K\r\n").texts
    assert texts == lines


def test_numbered_lines_are_unchanged() -> None:
    lines = [f"line {number}" for number in range(5000)]
    assert decode("".join(f"{line}\r\n" for line in lines).encode()).texts == lines


def test_blank_lines_are_lines() -> None:
    assert decode(b"\r\n\r\na\r\n\r\nb\r\n\r\n").texts == ["", "", "a", "", "b"]


def test_a_line_spans_its_newline() -> None:
    data = "ä\r\n\x1b[1mb\x1b[m\r\n\r\nc".encode()
    assert decode(data).rows == (("ä", 0, 4), ("b", 4, 14), ("", 14, 16), ("c", 16, 17))


def test_a_row_that_is_written_elsewhere_begins_with_its_text() -> None:
    assert decode(b"a\x1b[3;1H\x1b[1mb\x1b[m").rows == (("a", 0, 1), ("", 0, 0), ("b", 11, 12))


def test_a_line_has_the_time_of_its_last_change() -> None:
    stage = TextDecoder(80, 3)
    stage.feed(build_delta(b"one\r\ntwo\r\n", 0, 10))
    stage.feed(build_delta(b"three\x1b[A\rTWO", 10, 20))
    assert [(line.text, line.at) for line in stage.finish(30).lines] == [("one", 10), ("TWO", 20), ("three", 20)]


def test_a_line_settles_when_it_leaves_the_screen() -> None:
    stage = TextDecoder(80, 3)
    output = stage.feed(build_delta(b"one\r\ntwo\r\nthree\r\nfour"))
    assert [line.text for line in output.lines] == ["one"]
    assert stage.settled_count == 1
    assert [line.text for line in stage.list_provisional_lines()] == ["two", "three", "four"]
    assert [line.has_cursor for line in stage.list_provisional_lines()] == [False, False, True]


def test_a_wrapped_line_settles_when_its_last_row_leaves() -> None:
    stage = TextDecoder(10, 2)
    assert stage.feed(build_delta(b"0123456789abc\r\nd")).lines == ()
    assert [line.text for line in stage.list_provisional_lines()] == ["0123456789abc", "d"]
    assert [line.text for line in stage.feed(build_delta(b"\r\n", 16)).lines] == ["0123456789abc"]


def test_a_row_that_leaves_a_region_settles() -> None:
    assert decode(b"\x1b[2;3rtop\x1b[2;1Ha\r\nb\r\nc\r\nd", height=5).texts == ["a", "b", "top", "c", "d"]


def test_a_repainted_box_is_stored_once() -> None:
    frame = "╭────╮\r\n│ {:2} │\r\n╰────╯\r\n"
    again = "\x1b[2K\x1b[1A" * 3 + "\x1b[2K\x1b[G"
    frames = again.join(frame.format(number) for number in range(20))
    assert decode(frames.encode()).texts == ["╭────╮", "│ 19 │", "╰────╯"]


def test_a_progress_bar_is_one_line() -> None:
    bar = b"".join(b"\rDownloading %3d%% [%-10s]\x1b[K" % (done, b"#" * (done // 10)) for done in range(101))
    assert decode(bar + b"\r\x1b[KSaved wheel.whl\r\n").texts == ["Saved wheel.whl"]
    assert decode(bar + b"\r\n").texts == ["Downloading 100% [##########]"]


def test_an_apt_progress_bar_stays_below_the_lines() -> None:
    bar = b"\x1b7\x1b[24;0f\x1b[42m\x1b[30mProgress: [ %d%%]\x1b[49m\x1b[39m [##..] \x1b8"
    texts = decode(b"Unpacking x\r\n" + bar % 50 + b"Setting up x\r\n" + bar % 60, height=24).texts
    assert [text for text in texts if text] == ["Unpacking x", "Setting up x", "Progress: [ 60%] [##..]"]


def test_equal_screens_are_stored_once() -> None:
    frame = b"\x1b[H\x1b[2Jload 1\r\nload 2\r\n"
    assert decode(frame * 9 + b"\x1b[H\x1b[2Jbye").texts == ["load 1", "load 2", "bye"]


def test_equal_screens_with_marks_are_stored_again() -> None:
    frame = b"\x1b[H\x1b[2J\x1b]133;A\x07$ clear"
    assert decode(frame * 3).texts == ["$ clear"] * 3


@pytest.mark.parametrize(
    ("opened", "closed", "texts"),
    [
        (b"\x1b[?1049h", b"\x1b[?1049l", ["one", "$ back"]),
        (b"\x1b[?47h", b"\x1b[?47l", ["one", "$", "       back"]),
        (b"\x1b[?1047h", b"\x1b[?1047l", ["one", "$", "       back"]),
    ],
)
def test_the_main_screen_goes_on_after_the_alternate_one(opened: bytes, closed: bytes, texts: list[str]) -> None:
    data = b"one\r\n$ " + opened + b"\x1b[H\x1b[2Jinside\r\n\x1b[2Binner\x1b[3;8H" + closed + b"back"
    assert decode(data).texts == texts


def test_the_region_and_modes_outlive_the_alternate_screen() -> None:
    data = b"\x1b[?1049h\x1b[1;3r\x1b[4h\x1b[?1049l\x1b[3;1Hac\x1b[2Gb\r\nnext"
    assert decode(data).texts == ["", "", "abc", "next"]
    assert decode(b"one\r\n\r\n" + data, height=4).texts == ["one", "", "abc", "next"]


@pytest.mark.parametrize("character", ["x", "é", "日", "😀"])
def test_an_endless_line_is_cut_at_the_limit(character: str) -> None:
    rows = decode((character * (2 * LINE_LIMIT + 5) + "\r\n").encode()).rows
    assert [len(text) for text, _, _ in rows] == [LINE_LIMIT, LINE_LIMIT, 5]
    assert rows[0][1] == 0 and rows[-1][2] == len(character.encode()) * (2 * LINE_LIMIT + 5) + 2


def test_a_line_just_at_the_limit_is_not_cut() -> None:
    assert [len(text) for text in decode(b"x" * LINE_LIMIT + b"\r\nnext\r\n").texts] == [LINE_LIMIT, 4]


@pytest.mark.parametrize("width", [40, 80, 200, 9000])
def test_a_long_line_is_cut_between_words(width: int) -> None:
    words = " ".join(f"word{number:05}" for number in range(2000))
    texts = decode(words.encode() + b"\r\n", width=width).texts
    assert len(texts) == 5 and max(map(len, texts)) <= LINE_LIMIT
    assert " ".join(texts) == words
    assert [line.text for line in build_decoder(words.encode(), width, 999).list_provisional_lines()] == texts


def test_an_overwritten_wide_character_takes_two_columns() -> None:
    """Check both ends of every range and every sixteenth character within."""
    # Assigned after the oldest supported Python was made.
    later = re.compile("[\U0001faf7\U0001faf8\U00031350-\U000323af]")
    known = (chr(code) for code in range(0x110000) if not later.match(chr(code)))
    assigned = (character for character in known if unicodedata.category(character) not in ("Cn", "Cs"))
    wide = [character for character in assigned if unicodedata.east_asian_width(character) in "WF"]
    inside = {chr(ord(character) + 1) for character in wide} & {chr(ord(character) - 1) for character in wide}
    narrow_marks = re.compile("[\u302a-\u302d\u3099\u309a\U00016fe4]")
    sample = [character for character in wide if character not in inside or ord(character) % 16 == 0]
    shown = [character for character in sample if not narrow_marks.match(character)]
    assert set(decode("".join(f"a{character}\bX\r\n" for character in shown).encode()).texts) == {"a X"}


def test_marks_have_no_column() -> None:
    marks = [chr(code) for code in range(0x300, 0x110000) if unicodedata.category(chr(code)) in ("Mn", "Me")]
    assert set(decode("".join(f"a{mark}\rX\r\n" for mark in marks).encode()).texts) == {"X"}


def test_a_jump_to_another_row_is_a_sign_of_repainting() -> None:
    stage = build_decoder(b"a\r\nb\r\n")
    assert stage.row_jumps == 0
    stage.feed(build_delta(b"\x1b[2A\x1b[H\x1b[2J\x1b[K\x1b[3C", 6))
    assert stage.row_jumps == 3
