"""Find the input area on screens of agents and other programs."""

import pytest

from termvisor.terminal.input_area import count_columns, find_input_rows, locate_cursor

RULE = "─" * 40


def select_input_rows(rows: list[str], cursor: int, *, has_cursor: bool = True) -> list[str]:
    return [rows[number] for number in find_input_rows(rows, cursor, has_cursor=has_cursor)]


def test_without_a_frame_the_input_area_is_the_cursor_row():
    assert select_input_rows(["text", "› Ask anything", "status"], 1) == ["› Ask anything"]


def test_between_two_rules_the_input_area_includes_the_rules():
    rows = ["● done", RULE, "❯ first", "  second", RULE, "? for shortcuts"]
    assert select_input_rows(rows, 3) == rows[1:5]


def test_in_a_box_the_input_area_is_the_box():
    rows = ["● done", "╭─ Prompt ───────────╮", "│ > fix it           │", "╰────────────────────╯", "status"]
    assert select_input_rows(rows, 2) == rows[1:4]


def test_beside_a_short_bar_the_input_area_is_all_rows_of_the_bar():
    rows = ["answer", "", "  ┃", "  ┃  Ask anything", "  ┃  Build", "  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀", "tab agents"]
    assert select_input_rows(rows, 3) == rows[2:5]


def test_a_dialog_is_not_input():
    rows = [RULE, "Which database?", "", "❯ 1. Postgres", "  2. SQLite", RULE]
    assert select_input_rows(rows, 3) == ["❯ 1. Postgres"]
    rows = ["╌" * 40, "Do you want to proceed?", "❯ 1. Yes", "  2. No", "", "Esc to cancel"]
    assert select_input_rows(rows, 2) == ["❯ 1. Yes"]


def test_a_frame_around_the_whole_screen_is_not_an_input_area():
    rows = ["┌" + "─" * 30 + "┐", *(f"│ file {number:<23} │" for number in range(20)), "└" + "─" * 30 + "┘"]
    assert select_input_rows(rows, 10) == [rows[10]]


def test_a_cursor_on_the_frame_itself_takes_that_row_only():
    rows = ["│ Allow?             │", "╰────────────────────╯"]
    assert select_input_rows(rows, 1) == [rows[1]]


def test_a_hidden_cursor_counts_only_in_a_frame_or_after_a_prompt():
    assert select_input_rows(["load 1.2", "  42 root zebrad"], 1, has_cursor=False) == []
    assert select_input_rows(["answer", " >  Type your message"], 1, has_cursor=False) == [" >  Type your message"]
    assert select_input_rows([RULE, "❯ fix it", RULE], 1, has_cursor=False) == [RULE, "❯ fix it", RULE]


@pytest.mark.parametrize("cursor", [-1, 2, 99])
def test_a_cursor_outside_the_rows_takes_none(cursor):
    assert select_input_rows(["a", "b"], cursor) == []


@pytest.mark.parametrize(
    ("rows", "y", "expected"),
    [
        (["a", "b", "c"], 1, (1, 4)),
        (["x" * 25, "b"], 2, (0, 24)),
        (["x" * 25, "b"], 3, (1, 4)),
        (["x" * 20, "b"], 2, (1, 4)),
        (["", "漢" * 6, "c"], 2, (1, 14)),
        (["", "漢" * 6, "c"], 3, (2, 4)),
        (["a"], 7, None),
    ],
)
def test_the_cursor_is_found_where_rows_were_joined(rows, y, expected):
    assert locate_cursor(rows, (10, 24), 4, y) == expected


def test_wide_and_combining_characters_take_their_columns():
    assert [count_columns(text) for text in ("abc", "漢字", "e\u0301", "")] == [3, 4, 1, 0]
    assert locate_cursor(["abc"], (0, 0), 1, 0) == (0, 1)


def test_without_joined_rows_the_cursor_row_is_unchanged():
    assert locate_cursor(["x" * 25, "b"], (10, 2), 3, 1) == (1, 3)
