"""Commands for completion match the declarations."""

from termvisor.frontends.cli import local_commands
from termvisor.ops.api.arguments import list_arguments
from termvisor.ops.api.catalog import find_operation
from termvisor.ops.api.operation import CLI_ONLY_WORDS
from termvisor.ops.docs.completions.completion_command import (
    PANE_VALUE,
    PATH_VALUE,
    list_commands,
    list_first_words,
    list_group_members,
    list_robot_words,
)


def test_words_of_cli_only_commands_match_their_parsers() -> None:
    declared = {}
    for name, command in local_commands.LOCAL_COMMANDS.items():
        words: list[str] = []
        for argument in list_arguments(command.Input):
            words += argument.choices if argument.is_positional else argument.flags
        declared[name] = set(words)
    assert {name: set(words) for name, words in CLI_ONLY_WORDS.items()} == declared


def test_values_match_the_declarations() -> None:
    known = {command.name: command for command in list_commands()}
    assert known["get-text"].positional == PANE_VALUE
    assert known["export"].flags["--output"] == PATH_VALUE
    assert known["logs"].flags["--level"] == "debug info warning error"
    assert known["logs"].flags["--follow"] == ""
    assert known["list-panes"].aliases == ("panes", "state")
    assert "thin_interval" in known["config set"].positional.split()
    assert "gap_recorded" in known["list-events"].flags["--kind"].split()


def test_every_completed_first_word_is_a_command() -> None:
    for word in set(list_first_words()) - {
        "config",
        "setup",
        "db",
        "hook",
        "policy",
        *local_commands.LOCAL_COMMANDS,
        "robot",
    }:
        assert find_operation([word], is_robot=False)
    for word in set(list_robot_words()) - {"config", "setup", "db", "hook", "policy"}:
        assert find_operation([word], is_robot=True)
    assert find_operation(["config", next(iter(list_group_members("config")))], is_robot=False)
