"""Commands as completion knows them are the ones that are declared."""

from termvisor.frontends.cli import local_commands as own
from termvisor.ops.api.arguments import arguments
from termvisor.ops.api.catalog import find
from termvisor.ops.api.operation import FACE_WORDS
from termvisor.ops.docs.completions.command import PANE, PATH, commands, first_words, members, robot_words


def test_what_may_follow_the_commands_that_are_no_operations_is_what_they_declare() -> None:
    declared = {}
    for name, command in own.COMMANDS.items():
        words: list[str] = []
        for argument in arguments(command.Input):
            words += argument.choices if argument.is_positional else argument.flags
        declared[name] = set(words)
    assert {name: set(words) for name, words in FACE_WORDS.items()} == declared


def test_values_are_what_the_declarations_say() -> None:
    known = {command.name: command for command in commands()}
    assert known["get-text"].place == PANE
    assert known["export"].flags["--output"] == PATH
    assert known["logs"].flags["--level"] == "debug info warning error"
    assert known["logs"].flags["--follow"] == ""
    assert known["list-panes"].also == ("panes", "state")
    assert "thin_interval" in known["config set"].place.split()
    assert "gap_recorded" in known["list-events"].flags["--kind"].split()


def test_every_word_that_is_offered_first_is_a_command() -> None:
    for word in set(first_words()) - {"config", "setup", "db", "hook", "policy", *own.COMMANDS, "robot"}:
        assert find([word], is_robot=False)
    for word in set(robot_words()) - {"config", "setup", "db", "hook", "policy"}:
        assert find([word], is_robot=True)
    assert find(["config", next(iter(members("config")))], is_robot=False)
