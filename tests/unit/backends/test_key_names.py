"""Validate key names."""

import pytest

from termvisor.backends.key_names import is_key_name


@pytest.mark.parametrize("name", ["Enter", "C-c", "M-Enter", "C-M-a", "Up", "F12", "a", "é", "-", "C-["])
def test_key_names_of_tmux_are_valid(name):
    assert is_key_name(name)


@pytest.mark.parametrize(
    "name", ["", "Entr", "enter", "F13", "C-", "ls", "\n", "\x1b", "C-\n", "M-é", "C-C-C-C-a", "\ud800"]
)
def test_names_that_tmux_types_as_text_are_invalid(name):
    assert not is_key_name(name)
