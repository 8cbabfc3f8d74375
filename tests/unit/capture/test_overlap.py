"""An old tail and a new capture."""

from termvisor.capture.overlap import find_rows_after_tail

OLD = ["$ make", "compiling a", "compiling b", "linking"]


def test_what_follows_the_tail_is_recovered():
    assert find_rows_after_tail(OLD, [*OLD[1:], "done", "$ "]) == ["done", "$ "]


def test_nothing_new_is_an_empty_list_and_not_unknown():
    assert find_rows_after_tail(OLD, OLD) == []


def test_two_possible_places_prove_nothing():
    assert find_rows_after_tail(OLD, [*OLD, "x", *OLD, "y"]) is None


def test_a_few_equal_or_blank_lines_prove_nothing():
    assert find_rows_after_tail(["", "$ ", ""], ["", "$ ", "", "new"]) is None
    assert find_rows_after_tail(OLD, ["linking", "new"]) is None


def test_a_capture_of_something_else_proves_nothing():
    assert find_rows_after_tail(OLD, ["a", "b", "c", "d"]) is None
