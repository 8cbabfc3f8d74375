"""Find where a screen continues the stored lines."""

import pytest

from termvisor.capture.overlap import find_rows_after_tail, normalize_line

OLD = ["$ make", "compiling a", "compiling b", "linking"]


def test_rows_after_the_tail_are_returned():
    assert find_rows_after_tail(OLD, [*OLD[1:], "done", "$ "]) == ["done", "$ "]


def test_no_new_rows_are_an_empty_list_and_not_none():
    assert find_rows_after_tail(OLD, OLD) == []


def test_a_tail_that_occurs_twice_proves_nothing():
    assert find_rows_after_tail(OLD, [*OLD, "x", *OLD, "y"]) is None


def test_a_few_equal_or_blank_lines_prove_nothing():
    assert find_rows_after_tail(["", "$ ", ""], ["", "$ ", "", "new"]) is None
    assert find_rows_after_tail(OLD, ["linking", "new"]) is None


def test_a_capture_without_the_tail_proves_nothing():
    assert find_rows_after_tail(OLD, ["a", "b", "c", "d"]) is None


def test_lines_with_tabs_are_found_as_the_terminal_shows_them():
    tail = ["name\tsize", "\tindented", "日本\twide", "trailing \t "]
    shown = ["name    size", "        indented", "日本    wide", "trailing", "new\trow"]
    assert find_rows_after_tail(tail, shown) == ["new\trow"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("", ""),
        ("a  ", "a"),
        ("\t", ""),
        ("1234567\tb", "1234567 b"),
        ("12345678\tb", "12345678        b"),
        ("é\tb", "é       b"),
    ],
)
def test_a_line_is_compared_as_it_is_shown(line, shown):
    assert normalize_line(line) == shown
