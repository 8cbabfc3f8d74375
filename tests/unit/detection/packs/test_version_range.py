"""Version ranges of rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.detection.packs.version_range import is_in_range, is_valid_range

NUMBERS = st.lists(st.integers(0, 300), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("version", "wanted", "expected"),
    [
        ("0.166.0", ">=0.150,<1", True),
        ("0.149.9", ">=0.150,<1", False),
        ("1.0", "<1", False),
        ("1", "1.0.0", True),
        ("2.1.325 (Claude Code)", ">2.1.9", True),
        ("v2.1", "==2.1", True),
        ("2.1", "!=2.1", False),
        ("2.1", "<=2.1, >=2", True),
        ("", "<1", True),
        ("unknown", "<1", True),
        ("1.0", "", True),
        ("1.0", "soon", False),
    ],
)
def test_every_bound_must_hold(version: str, wanted: str, expected: bool) -> None:
    assert is_in_range(version, wanted) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("", True), (">=1,<2", True), ("1.2.3", True), ("~1", False), ("1,", False)]
)
def test_a_range_is_bounds_with_commas(text: str, expected: bool) -> None:
    assert is_valid_range(text) is expected


@given(NUMBERS, NUMBERS)
def test_of_two_versions_one_is_older_or_they_are_the_same(one: list[int], other: list[int]) -> None:
    first, second = (".".join(map(str, numbers)) for numbers in (one, other))
    assert [is_in_range(first, f"{sign}{second}") for sign in ("<", "==", ">")].count(True) == 1
    assert is_in_range(first, f"<={second}") is not is_in_range(first, f">{second}")
