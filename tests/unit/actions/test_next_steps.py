"""The hint after a refusal: a command that exists, with the pane of the call."""

import re

import pytest

from termvisor.actions.next_steps import _NEXT_STEPS, describe_next_step
from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.api.catalog import find_operation


@pytest.mark.parametrize("why", [*_NEXT_STEPS, "anything_else"])
def test_every_command_in_a_hint_can_be_called(why: str) -> None:
    commands = re.findall(r"`visor ([^`]+)`", describe_next_step(why, 7))
    for command in commands:
        words = command.replace("<choice>", "yes").replace("<program>", "top").split()
        op, rest = find_operation(words, is_robot=False)
        parse_arguments(op.args_type, [*rest, *(["Up"] if op.name == "send_keys" else [])])


def test_a_hint_names_the_pane_of_the_call() -> None:
    assert "`visor get-screen 7`" in describe_next_step("input_not_empty", 7)
    assert "`visor get-screen 7`" in describe_next_step("anything_else", 7)
