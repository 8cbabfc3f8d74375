import pytest

from tests.unit.policy.policy_requests import find_classes


@pytest.mark.parametrize(
    "line",
    [
        "tmux send-keys -t x 'rm -rf /' Enter",
        "tmux -L s new-window -n a 'rm -rf /'",
        "tmux run-shell 'rm -rf /'",
        "tmux ls \\; send-keys 'rm -rf /' C-m",
        "tmux set-buffer 'rm -rf /'",
    ],
)
def test_what_tmux_would_type_or_run_is_looked_at(line: str) -> None:
    assert find_classes(line) == {"bypass", "destructive_delete", "system_delete"}


@pytest.mark.parametrize(
    "line", ["tmux ls", "tmux attach", "tmux display-message -p x", "tmux capture-pane -p", "tmux"]
)
def test_looking_is_not_bypassing(line: str) -> None:
    assert find_classes(line) == set()


def test_ending_panes_is_both() -> None:
    assert find_classes("tmux kill-pane -t 1") == {"bypass", "process_kill"}


@pytest.mark.parametrize(
    ("line", "is_bypass"),
    [
        ("visor", False),
        ("visor search x", False),
        ("visor robot health", False),
        ("visor config set a b", True),
        ("visor inbox approve 1", True),
        ("visor robot send 7 x", True),
        ("screen -ls", False),
        ("screen -S a -X x", True),
        ("wezterm cli list", False),
        ("wezterm cli send-text x", True),
        ("history", False),
        ("history -c", True),
    ],
)
def test_termvisor_is_not_steered_past_its_own_gate(line: str, is_bypass: bool) -> None:
    assert find_classes(line) == ({"bypass"} if is_bypass else set())


def test_an_old_command_is_not_known() -> None:
    assert find_classes("fc -s ls") == {"dynamic"}
    assert find_classes("fc -l") == set()
