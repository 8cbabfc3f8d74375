import shlex

import pytest

from termvisor.ops.api.arguments import parse
from termvisor.ops.api.catalog import find
from termvisor.ops.api.local_services import LocalWorld
from termvisor.ops.system.help import FACE_COMMANDS
from termvisor.ops.system.quick_start import START
from termvisor.testing.asking import ask

FACES = {name for name, _ in FACE_COMMANDS}
STEPS = [shlex.split(step.run)[1:] for step in START.robots + START.people]


@pytest.mark.parametrize("words", [words for words in STEPS if words[0] not in FACES - {"robot"}], ids=" ".join)
def test_every_command_it_names_exists(words: list[str]) -> None:
    is_robot = words[0] == "robot"
    op, rest = find(words[is_robot:], is_robot)
    assert isinstance(parse(op.Input, rest), op.Input)


async def test_no_command_means_the_quick_start() -> None:
    people, robots = await ask(LocalWorld()), await ask(LocalWorld(), "robot")
    assert (people.status, robots.status) == (0, 0)
    assert people.out.startswith(START.what)
    assert robots.envelope["data"]["what"] == START.what


async def test_it_is_short() -> None:
    assert len((await ask(LocalWorld(), "robot", "quick-start")).out) < 2500
