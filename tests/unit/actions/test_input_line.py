"""Reading a program's input from captured screens."""

import pytest

from termvisor.actions.input_line import (
    find_guard_piece,
    find_guard_pieces,
    find_highlights,
    is_same_text,
    is_text_shown,
    parse_row,
    read_program_input,
    read_prompt_input,
    strip_decoration,
)
from termvisor.backends.pane_control import PaneState
from termvisor.model.ids import MuxPaneId

LINES = "first line and then some more\nmiddle\nthe last line, which is longer"


def screen(*rows: str, x: int, y: int = 0, width: int = 40) -> PaneState:
    return PaneState(
        pane=MuxPaneId("%1"),
        pid=7,
        command="bash",
        dead=False,
        in_mode=False,
        input_off=False,
        synchronized=False,
        alternate=False,
        width=width,
        height=10,
        cursor_x=x,
        cursor_y=y,
        cursor_visible=True,
        rows=rows,
    )


@pytest.mark.parametrize(
    ("seen", "before", "behind"),
    [
        (screen("$ ", x=2), "", ""),
        (screen("$", x=2), "", ""),
        (screen("$ echo hi", x=9), "echo hi", ""),
        (screen("$ echo hi", x=2), "", "echo hi"),
        (screen("one", "\x1b[32m$\x1b[0m ls -l", x=7, y=1), "ls -l", ""),
        (screen("$ " + "x" * 50, x=12, y=1), "x" * 50, ""),
        (screen("$ " + " " * 31 + "[12:00]", x=2), "", ""),
        (screen("$ git \x1b[90mpush origin\x1b[39m", x=6), "git ", ""),
        (screen("$ git \x1b[38;5;240mpush\x1b[0m", x=6), "git ", ""),
        (screen("$ \x1b[2mTry a command\x1b[0m", x=2), "", ""),
        (screen("$ 日本", x=6), "日本", ""),
    ],
    ids=["empty", "stripped", "typed", "cursor at home", "second row", "wrapped", "right prompt", "suggestion",
         "grey suggestion", "placeholder", "wide"],
)  # fmt: skip
def test_a_shells_input_starts_after_its_prompt(seen, before, behind):
    typed = read_prompt_input(seen, 2)
    assert typed is not None
    assert (typed.before, typed.behind) == (before, behind)


def test_a_cursor_before_the_input_is_no_input():
    assert read_prompt_input(screen("$ echo", x=0), 2) is None
    assert read_prompt_input(screen("$", x=0, y=7), 2) is None


def test_a_programs_input_is_the_box_around_the_cursor():
    box = ("output", "╭──────────────────╮", "│ > fix the tests  │", "╰──────────────────╯", "  ? for help")
    typed = read_program_input(screen(*box, x=17, y=2))
    assert typed is not None
    assert is_same_text(typed.before, "fix the tests") and not strip_decoration(typed.behind)


@pytest.mark.parametrize(
    ("shown", "text", "is_it"),
    [
        ("> fix the tests", "fix the tests", True),
        ("fix the\n  tests", "fix the tests", True),
        ("│ fix the │\n│ tests │", "fix the tests", True),
        ("fix the test", "fix the tests", False),
        ("fix the tests now", "fix the tests", False),
        ("echo $HOME", "echo $HOME", True),
        ("", "", False),
        ("> $ ", "$", False),
        ("a" * 500, "a" * 500, True),
        ("a" * 100 + "…" + "a" * 101, "a" * 201, True),
        ("a" * 30 + " [171 more characters] " + "a" * 30, "a" * 201, True),
        ("a" * 30 + " [170 more characters] " + "a" * 30, "a" * 200, False),
        ("a" * 100 + "b" * 400, "a" * 500, False),
        ("first line and then some more\n[…]\nthe last line, which is longer", LINES, True),
        ("first line and then some\nanother line that is last", "first line and then some\nlast line", False),
    ],
)
def test_an_input_holds_a_text_when_nothing_else_is_in_it(shown, text, is_it):
    assert is_same_text(shown, text) is is_it


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("fix the tests", "fix the tests"),
        ("run `make test-all`, please", "make test"),
        ("日本", ""),
        ("x" * 300, "x" * 20),
        ("a-bb-ccc", "ccc"),
    ],
)
def test_the_guard_pattern_is_a_piece_of_the_text(text, piece):
    assert find_guard_piece(text, 80) == piece


def test_a_text_is_found_anywhere_on_the_screen():
    seen = screen("$ echo fix the tests", "fix the tests", "$ ", x=2, y=2)
    assert (
        is_text_shown(seen, "fix the tests")
        and not is_text_shown(seen, "something else")
        and not is_text_shown(seen, "")
    )


def test_only_faint_text_is_marked():
    row = parse_row("a\x1b[2mb\x1b[22mc\x1b[1;31md\x1b[38;2;9;9;9me\x1b[38:5:240mf\x1b[mg")
    assert row.text == "abcdefg"
    assert [character for character, faint in zip(row.text, row.faint, strict=True) if faint] == ["b", "f"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("\x1b[48;2;9;9;9m  \x1b[48;2;5;6;7m Yes \x1b[48;2;9;9;9m  No ", ["Yes"]),
        ("\x1b[48;5;9m  Yes  \x1b[38;5;7;48;5;4m No \x1b[48;5;9m x", ["No"]),
        ("\x1b[0m a \x1b[44m Yes \x1b[m b \x1b[1;104m No \x1b[49m c", ["Yes", "No"]),
        ("\x1b[48:5:9m  \x1b[38;5;48mYes\x1b[48;5;9m No ", []),
        ("  \x1b[44m Yes \x1b[48;5;9m No ", []),
        ("  \x1b[44m Yes \x1b[49m No ", []),
        ("\x1b[49m  \x1b[44m   \x1b[49m No ", []),
        ("no colours", []),
        ("\x1b[40m  \x1b[43m Once \x1b[40m  \x1b[44m Always \x1b[40m  \x1b[44m No \x1b[40m  ", ["Once"]),
        ("\x1b[40m  \x1b[43m Once \x1b[40m  \x1b[44m No \x1b[40m  ", ["Once", "No"]),
    ],
    ids=[
        *("true colour", "palette", "eight colours", "text colour", "other sides", "inherited side", "blank", "plain"),
        *("one among buttons", "one of two buttons"),
    ],
)
def test_a_text_is_highlighted_by_a_background_of_its_own(row, expected):
    assert find_highlights(["", row]) == tuple((1, text) for text in expected)


def test_an_input_of_several_lines_begins_above_the_cursor():
    seen = screen("old", "$ for i in 1 2; do", "  true $i", "done", x=4, y=3)
    typed = read_prompt_input(seen, 2, lines=3)
    assert typed is not None
    assert (typed.before, typed.behind) == ("for i in 1 2; do\n  true $i\ndone", "")


def test_an_input_that_begins_above_the_screen_is_unknown():
    assert read_prompt_input(screen("two", "three", x=5, y=1), 2, lines=3) is None


def test_the_guard_of_a_long_text_uses_its_ends():
    text = f"begin here\n{'an-uncommonly-long-word ' * 20}\nand end there"
    assert find_guard_piece(text, 80) in ("begin here", "and end there")


def test_the_rows_of_a_programs_input_are_lines():
    box = ("╭────────╮", "│ > one  │", "│ two    │", "│ three  │", "╰────────╯")
    typed = read_program_input(screen(*box, x=5, y=2))
    assert typed is not None
    assert typed.before.split("\n") == ["╭────────╮", "│ > one  │", "│ two"]
    assert typed.behind.split("\n") == ["│", "│ three  │", "╰────────╯"]


@pytest.mark.parametrize("codes", ["38", "38;5", "38;5;", "38;2;1", "48;5;240"])
def test_an_incomplete_or_other_colour_is_not_faint(codes):
    row = parse_row(f"a\x1b[{codes}mb")
    assert (row.text, row.faint) == ("ab", (False, False))


@pytest.mark.parametrize(
    ("codes", "is_faint"),
    [
        ("2", True), ("90", True), ("1;2", True), ("38;5;8", True), ("38;5;235", True), ("38;5;246", True),
        ("38;5;234", False), ("38;5;247", False), ("38;5;2", False), ("38;6;8", False), ("1", False), ("31", False),
        ("48;5;2", False), ("58;5;2", False),
    ],
)  # fmt: skip
def test_text_is_faint_by_attribute_or_grey_colour(codes, is_faint):
    assert parse_row(f"a\x1b[{codes}mb").faint == (False, is_faint)


@pytest.mark.parametrize(
    ("codes", "is_faint"),
    [
        ("", False), ("0", False), ("22", False), ("39", False), ("38;5;2", False), ("1", True), ("31", True),
        ("48;5;2", True), ("58;5;2", True), ("48;5;0", True),
    ],
)  # fmt: skip
def test_faint_text_ends_with_its_attribute_or_colour(codes, is_faint):
    assert parse_row(f"\x1b[2ma\x1b[{codes}mb").faint == (True, is_faint)


@pytest.mark.parametrize(
    ("row", "x", "width", "behind"),
    [
        ("$ a" + " " * 5 + "[12:00]", 3, 15, ""),
        ("$ a" + " " * 5 + "[12:00]", 3, 16, ""),
        ("$ a" + " " * 5 + "[12:00]", 3, 17, "[12:00]"),
        ("$ a [12:00]", 3, 11, "[12:00]"),
        ("$ ab", 3, 40, "b"),
    ],
)
def test_only_text_at_the_right_edge_is_no_input(row, x, width, behind):
    assert read_prompt_input(screen(row, x=x, width=width), 2).behind == behind


@pytest.mark.parametrize(
    ("rows", "width", "expected"),
    [
        (("› 1. Yes, go (y)",), 100, ("› 1. Yes",)),
        (("", "───"), 100, ()),
        (("same", "same"), 100, ("same",)),
        (("a" * 60,), 100, ("a" * 50,)),
        (("a" * 60,), 4, ("a" * 8,)),
        (("  a  ",), 100, ("a",)),
    ],
)
def test_a_dialog_is_guarded_by_a_piece_of_each_row(rows, width, expected):
    assert find_guard_pieces(rows, width) == expected
