"""What workflows may do, by the settings."""

import pytest

from termvisor.model.settings.workflows import complaint, mode_of


@pytest.mark.parametrize(
    ("modes", "mode"),
    [((), "ask"), (("a=on",), "on"), (("*=off",), "off"), (("*=off", "a=ask"), "ask"), (("b=on",), "ask")],
)
def test_its_own_entry_counts_then_that_of_all_then_what_is_usual(modes, mode):
    assert mode_of(modes, "a", "ask") == mode


def test_an_entry_that_says_nothing_is_told():
    assert [complaint(entry) for entry in ("a=on", "*=off")] == ["", ""]
    assert all(complaint(entry) for entry in ("a", "a=maybe", "=on"))
