"""Options of a dialog and the keys that select them."""

import pytest

from termvisor.agents.adapters.keyboard import DialogOption, find_keys_to_option, parse_numbered_options

ROWS = ["Allow execution?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"]


def test_choices_are_the_numbered_rows():
    assert parse_numbered_options(ROWS) == [
        DialogOption("Allow once", True),
        DialogOption("Allow for this session", False),
        DialogOption("No, suggest changes (esc)", False),
    ]


@pytest.mark.parametrize("rows", [ROWS[2:], ["● 1. a", "  3. b"], [*ROWS, "  1. again"], []])
def test_what_is_not_counted_from_one_is_no_choice(rows):
    assert parse_numbered_options(rows) == []


def test_the_way_leads_from_what_is_pointed_at():
    offered = parse_numbered_options(ROWS)
    assert find_keys_to_option("Allow once", offered) == ("Enter",)
    assert find_keys_to_option("No, suggest changes (esc)", offered) == ("Down", "Down", "Enter")
    assert find_keys_to_option("Allow once", [DialogOption("Allow once", False), DialogOption("No", True)]) == (
        "Up",
        "Enter",
    )


@pytest.mark.parametrize(
    "offered",
    [
        [],
        [DialogOption("Yes", False), DialogOption("No", False)],
        [DialogOption("Yes", True), DialogOption("Yes", False)],
        [DialogOption("No", True)],
        [DialogOption("Yes", True), DialogOption("No", True)],
    ],
)
def test_where_anything_is_uncertain_no_key_is_pressed(offered):
    assert find_keys_to_option("Yes", offered) is None
