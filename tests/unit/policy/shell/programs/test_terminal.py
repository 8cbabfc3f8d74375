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
def test_text_and_commands_of_tmux_are_analyzed(line: str) -> None:
    assert find_classes(line) >= {"bypass", "destructive_delete", "system_delete"}


@pytest.mark.parametrize(
    "line", ["tmux ls", "tmux attach", "tmux display-message -p x", "tmux capture-pane -p", "tmux"]
)
def test_read_only_commands_are_no_bypass(line: str) -> None:
    assert find_classes(line) == set()


def test_killing_panes_is_process_kill_and_bypass() -> None:
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
def test_visor_commands_that_act_are_a_bypass(line: str, is_bypass: bool) -> None:
    assert find_classes(line) - {"unknown_effect"} == ({"bypass"} if is_bypass else set())


def test_command_from_history_is_dynamic() -> None:
    assert find_classes("fc -s ls") == {"dynamic"}
    assert find_classes("fc -l") == set()
