"""Workflow modes in the settings."""

import pytest

from termvisor.model.settings.workflows import find_mode_entry_problem, resolve_workflow_mode


@pytest.mark.parametrize(
    ("modes", "mode"),
    [((), "ask"), (("a=on",), "on"), (("*=off",), "off"), (("*=off", "a=ask"), "ask"), (("b=on",), "ask")],
)
def test_mode_is_the_own_entry_then_the_wildcard_then_the_default(modes, mode):
    assert resolve_workflow_mode(modes, "a", "ask") == mode


def test_invalid_mode_entry_is_reported():
    assert [find_mode_entry_problem(entry) for entry in ("a=on", "*=off")] == ["", ""]
    assert all(find_mode_entry_problem(entry) for entry in ("a", "a=maybe", "=on"))
