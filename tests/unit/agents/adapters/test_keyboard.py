"""Options of a dialog and the keys that select them."""

import pytest

from termvisor.agents.adapters.keyboard import DialogOption, find_keys_to_option, parse_numbered_options

ROWS = ["Allow execution?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"]


def test_options_are_the_numbered_rows():
    assert parse_numbered_options(ROWS) == [
        DialogOption("Allow once", True),
        DialogOption("Allow for this session", False),
        DialogOption("No, suggest changes (esc)", False),
    ]


@pytest.mark.parametrize("rows", [ROWS[2:], ["● 1. a", "  3. b"], [*ROWS, "  1. again"], []])
def test_rows_not_numbered_from_one_are_not_options(rows):
    assert parse_numbered_options(rows) == []


def test_keys_lead_from_the_selected_option_to_the_named_one():
    options = parse_numbered_options(ROWS)
    assert find_keys_to_option("Allow once", options) == ("Enter",)
    for given in ("1", "allow once", "1. Allow  once"):
        assert find_keys_to_option(given, options) == ("Enter",)
    assert find_keys_to_option("No, suggest changes (esc)", options) == ("Down", "Down", "Enter")
    assert find_keys_to_option("Allow once", [DialogOption("Allow once", False), DialogOption("No", True)]) == (
        "Up",
        "Enter",
    )


@pytest.mark.parametrize(
    "options",
    [
        [],
        [DialogOption("Yes", False), DialogOption("No", False)],
        [DialogOption("Yes", True), DialogOption("Yes", False)],
        [DialogOption("No", True)],
        [DialogOption("Yes", True), DialogOption("No", True)],
    ],
)
def test_ambiguous_options_have_no_keys(options):
    assert find_keys_to_option("Yes", options) is None
