"""Text that tmux keys type."""

from termvisor.policy.tmux_keys import convert_keys_to_text


def test_named_keys_type_nothing_except_enter_and_space() -> None:
    assert convert_keys_to_text(("rm -rf /", "C-m")) == "rm -rf /\n"
    assert convert_keys_to_text(("C-a", "Up", "F5", "M-x", "^C")) == ""
