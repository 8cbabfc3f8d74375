import shlex

import pytest

from termvisor.ops.api.arguments import arguments, parse
from termvisor.ops.api.catalog import every, find
from termvisor.ops.api.global_options import split
from termvisor.ops.api.operation import Op

OPS = every()


def test_every_op_is_fully_declared() -> None:
    for op in OPS:
        assert op.summary.endswith("."), op.name
        assert len(op.summary) <= 80, op.name
        assert op.doc, op.name
        assert op.examples, op.name
        assert op.Input.__doc__, op.name
        assert find(op.command.split(), is_robot=False)[0] is op


def test_every_example_is_a_call_of_its_op() -> None:
    for op, example in [(one, example) for one in OPS for example in one.examples]:
        words = shlex.split(example.line.partition(" > ")[0])
        is_robot = words[:1] == ["robot"]
        _, rest = split(words[is_robot:])
        found, rest = find(rest, is_robot)
        assert found is op, example.line
        assert isinstance(parse(op.Input, rest), op.Input), example.line


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_the_arguments_of_an_op_can_be_told_apart(op: Op) -> None:
    known = arguments(op.Input)
    flags = [flag for argument in known if not argument.is_positional for flag in argument.flags]
    assert len(flags) == len(set(flags))
    assert not {"-q", "--quiet", "-h", "--help", "--json", "--format"} & set(flags)
    positionals = [argument for argument in known if argument.is_positional]
    assert sum(not argument.is_required for argument in positionals) <= 1
    assert all(argument.is_required for argument in positionals[:-1])
    assert all(argument.default is False for argument in known if argument.is_switch)
