"""The metrics, compared with values computed by hand."""

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
PAIRS: LabelPairs = Counter(
    {("idle", "idle"): 6, ("idle", "asks"): 2, ("asks", "asks"): 3, ("asks", "offers"): 1, ("works", "idle"): 4}
)
"""True labels: eight idle, four asks, four works."""


def test_the_f1_of_a_label_is_the_harmonic_mean_of_precision_and_recall() -> None:
    precision, recall = 6 / 10, 6 / 8
    assert compute_f1(PAIRS, "idle") == pytest.approx(2 * precision * recall / (precision + recall))
    assert compute_f1(PAIRS, "asks") == pytest.approx(2 * 3 / (4 + 5))
    assert compute_f1(PAIRS, "works") == 0.0
    assert compute_f1(PAIRS, "absent") == 1.0


def test_the_weighted_f1_weights_a_label_by_how_often_it_is_true() -> None:
    assert compute_weighted_f1(PAIRS) == pytest.approx((8 * 2 / 3 + 4 * 2 / 3 + 4 * 0) / 16)
    assert compute_weighted_f1(Counter({("a", "a"): 3, ("b", "b"): 1})) == 1.0
    assert compute_weighted_f1(Counter({("a", "b"): 3})) == 0.0


def test_recall_counts_any_label_of_the_group_as_a_hit() -> None:
    assert compute_recall(PAIRS, WAITING) == 1.0
    assert compute_recall(PAIRS + Counter({("offers", "idle"): 1}), WAITING) == pytest.approx(4 / 5)


def test_the_false_rate_is_the_share_of_labels_outside_the_group() -> None:
    assert compute_false_rate(PAIRS, WAITING) == pytest.approx(2 / 12)
    assert compute_false_rate(Counter({("asks", "asks"): 9}), WAITING) == 0.0


def test_empty_pairs_give_perfect_scores() -> None:
    assert (
        compute_weighted_f1(Counter()),
        compute_recall(Counter(), WAITING),
        compute_false_rate(Counter(), WAITING),
    ) == (1.0, 1.0, 0.0)


def test_the_matrix_has_a_row_per_true_label_and_a_column_per_predicted_label() -> None:
    assert format_matrix(PAIRS, ("works", "asks", "idle", "offers", "unknown")).splitlines() == [
        "so \\ said  works  asks  idle  offers",
        "    works      ·     ·     4       ·",
        "     asks      ·     3     ·       1",
        "     idle      ·     2     6       ·",
    ]
