"""Figures reckoned by hand."""

from collections import Counter

import pytest

from tests.accuracy.metrics import (
    LabelPairs,
    compute_f1,
    compute_false_rate,
    compute_recall,
    compute_weighted_f1,
    format_matrix,
)

WAITING = ("asks", "offers")
SOME: LabelPairs = Counter(
    {("idle", "idle"): 6, ("idle", "asks"): 2, ("asks", "asks"): 3, ("asks", "offers"): 1, ("works", "idle"): 4}
)
"""Eight idle, four asks, four works."""


def test_the_f1_of_a_label_is_the_mean_of_its_precision_and_recall() -> None:
    precision, share = 6 / 10, 6 / 8
    assert compute_f1(SOME, "idle") == pytest.approx(2 * precision * share / (precision + share))
    assert compute_f1(SOME, "asks") == pytest.approx(2 * 3 / (4 + 5))
    assert compute_f1(SOME, "works") == 0.0
    assert compute_f1(SOME, "never so, never said") == 1.0


def test_the_weighted_f1_counts_a_label_as_often_as_it_was_so() -> None:
    assert compute_weighted_f1(SOME) == pytest.approx((8 * 2 / 3 + 4 * 2 / 3 + 4 * 0) / 16)
    assert compute_weighted_f1(Counter({("a", "a"): 3, ("b", "b"): 1})) == 1.0
    assert compute_weighted_f1(Counter({("a", "b"): 3})) == 0.0


def test_one_of_a_group_said_for_another_is_no_miss_of_the_group() -> None:
    assert compute_recall(SOME, WAITING) == 1.0
    assert compute_recall(SOME + Counter({("offers", "idle"): 1}), WAITING) == pytest.approx(4 / 5)


def test_a_false_alarm_is_counted_among_all_that_was_none() -> None:
    assert compute_false_rate(SOME, WAITING) == pytest.approx(2 / 12)
    assert compute_false_rate(Counter({("asks", "asks"): 9}), WAITING) == 0.0


def test_nothing_was_missed_of_nothing() -> None:
    assert (
        compute_weighted_f1(Counter()),
        compute_recall(Counter(), WAITING),
        compute_false_rate(Counter(), WAITING),
    ) == (1.0, 1.0, 0.0)


def test_the_matrix_has_a_row_for_what_was_so_and_a_column_for_what_was_said() -> None:
    assert format_matrix(SOME, ("works", "asks", "idle", "offers", "unknown")).splitlines() == [
        "so \\ said  works  asks  idle  offers",
        "    works      ·     ·     4       ·",
        "     asks      ·     3     ·       1",
        "     idle      ·     2     6       ·",
    ]
