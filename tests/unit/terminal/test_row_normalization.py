"""Normalize rows: which are equal and which are not."""

import pytest

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.screen import ScreenLifetime
from termvisor.terminal.row_normalization import build_row_hasher, normalize_row

LIFE = ScreenLifetime(PaneId(1), EpochId(1), True, 5)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Thinking… 9s", "Thinking… 12s"),
        ("⠋ Working", "⠙⠹ Working"),
        ("✻ Pondering (3s)", "✽ Pondering (4s)"),
        ("| building", "/ building"),
        ("- building", "\\ building"),
        ("a   b", "a b  "),
        ("[=====>    ] 40%", "[=>  ] 7%"),
        ("████░░ 3/9", "█░░░░ 1/9"),
        ("────────", "────"),
    ],
)
def test_rows_that_differ_in_counters_spinners_and_spacing_are_equal(one, other):
    assert normalize_row(one) == normalize_row(other)
    assert build_row_hasher(LIFE)(one) == build_row_hasher(LIFE)(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Thinking", "Thinking harder"),
        ("a-b", "a|b"),
        ("yes", "Yes"),
        ("1. Postgres", "2. SQLite"),
        ("x/y", "x y"),
        ("naïve", "naive"),
    ],
)
def test_different_rows_stay_distinct(one, other):
    assert normalize_row(one) != normalize_row(other)
    assert build_row_hasher(LIFE)(one) != build_row_hasher(LIFE)(other)


def test_a_blank_row_folds_to_nothing():
    assert normalize_row(" \t ") == ""


def test_the_same_row_has_another_hash_in_another_lifetime():
    lives = [
        LIFE,
        ScreenLifetime(PaneId(1), EpochId(2), True, 5),
        ScreenLifetime(PaneId(1), EpochId(1), False, 5),
        ScreenLifetime(PaneId(1), EpochId(1), True, 6),
    ]
    assert len({build_row_hasher(life)("a row") for life in lives}) == 4


def test_the_hash_of_a_row_is_stable_and_fits_the_database():
    number = build_row_hasher(LIFE)("lone surrogates \ud800 too")
    assert number == build_row_hasher(ScreenLifetime(PaneId(9), EpochId(1), True, 5))("lone surrogates \udfff too")
    assert -(1 << 63) <= number < 1 << 63
