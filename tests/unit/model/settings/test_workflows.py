"""What workflows may do, by the settings."""

import pytest

from termvisor.model.settings.workflows import find_mode_entry_problem, resolve_workflow_mode


@pytest.mark.parametrize(
    ("modes", "mode"),
    [((), "ask"), (("a=on",), "on"), (("*=off",), "off"), (("*=off", "a=ask"), "ask"), (("b=on",), "ask")],
)
def test_its_own_entry_counts_then_that_of_all_then_what_is_usual(modes, mode):
    assert resolve_workflow_mode(modes, "a", "ask") == mode


def test_an_entry_that_says_nothing_is_told():
    assert [find_mode_entry_problem(entry) for entry in ("a=on", "*=off")] == ["", ""]
    assert all(find_mode_entry_problem(entry) for entry in ("a", "a=maybe", "=on"))
