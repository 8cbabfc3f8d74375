"""The choices of a dialog and the way to one of them."""

import pytest

from termvisor.agents.adapters.dialog_options import Choice, choices, way_to

ROWS = ["Allow execution?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"]


def test_choices_are_the_numbered_rows():
    assert choices(ROWS) == [
        Choice("Allow once", True),
        Choice("Allow for this session", False),
        Choice("No, suggest changes (esc)", False),
    ]


@pytest.mark.parametrize("rows", [ROWS[2:], ["● 1. a", "  3. b"], [*ROWS, "  1. again"], []])
def test_what_is_not_counted_from_one_is_no_choice(rows):
    assert choices(rows) == []


def test_the_way_leads_from_what_is_pointed_at():
    offered = choices(ROWS)
    assert way_to("Allow once", offered) == ("Enter",)
    assert way_to("No, suggest changes (esc)", offered) == ("Down", "Down", "Enter")
    assert way_to("Allow once", [Choice("Allow once", False), Choice("No", True)]) == ("Up", "Enter")


@pytest.mark.parametrize(
    "offered",
    [
        [],
        [Choice("Yes", False), Choice("No", False)],
        [Choice("Yes", True), Choice("Yes", False)],
        [Choice("No", True)],
        [Choice("Yes", True), Choice("No", True)],
    ],
)
def test_where_anything_is_uncertain_no_key_is_pressed(offered):
    assert way_to("Yes", offered) is None
