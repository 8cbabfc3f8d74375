"""An old tail and a new capture."""

from termvisor.capture.overlap import recovered

OLD = ["$ make", "compiling a", "compiling b", "linking"]


def test_what_follows_the_tail_is_recovered():
    assert recovered(OLD, [*OLD[1:], "done", "$ "]) == ["done", "$ "]


def test_nothing_new_is_an_empty_list_and_not_unknown():
    assert recovered(OLD, OLD) == []


def test_two_possible_places_prove_nothing():
    assert recovered(OLD, [*OLD, "x", *OLD, "y"]) is None


def test_a_few_equal_or_blank_lines_prove_nothing():
    assert recovered(["", "$ ", ""], ["", "$ ", "", "new"]) is None
    assert recovered(OLD, ["linking", "new"]) is None


def test_a_capture_of_something_else_proves_nothing():
    assert recovered(OLD, ["a", "b", "c", "d"]) is None
