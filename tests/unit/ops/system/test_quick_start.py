import shlex

import pytest

from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.api.catalog import find_operation
from termvisor.ops.api.services import LocalServices
from termvisor.ops.system.help import CLI_ONLY_COMMANDS
from termvisor.ops.system.quick_start import QUICK_START
from termvisor.testing.operation_calls import run_command

CLI_ONLY = {name for name, _ in CLI_ONLY_COMMANDS}
STEPS = [shlex.split(step.run)[1:] for step in QUICK_START.robots + QUICK_START.people]


@pytest.mark.parametrize("words", [words for words in STEPS if words[0] not in CLI_ONLY - {"robot"}], ids=" ".join)
def test_every_command_in_the_quick_start_exists(words: list[str]) -> None:
    is_robot = words[0] == "robot"
    op, rest = find_operation(words[is_robot:], is_robot)
    assert isinstance(parse_arguments(op.args_type, rest), op.args_type)


async def test_no_command_means_the_quick_start() -> None:
    people, robots = await run_command(LocalServices()), await run_command(LocalServices(), "robot")
    assert (people.status, robots.status) == (0, 0)
    assert people.out.startswith(QUICK_START.what)
    assert robots.envelope["data"]["what"] == QUICK_START.what


async def test_the_quick_start_of_programs_names_the_loop_and_no_command_of_people() -> None:
    text = (await run_command(LocalServices(), "robot", "quick-start", is_full=False)).out
    assert "send (keep its cursor), wait-for --since <cursor>, get-screen" in text
    assert "visor robot get-screen 7" in text
    assert "visor doctor" not in text
