import shlex

import pytest

from termvisor.ops.api.arguments import list_arguments, parse_arguments, split_global_options
from termvisor.ops.api.catalog import find_operation, load_all_operations
from termvisor.ops.api.operation import Operation

OPS = load_all_operations()


def test_every_operation_is_fully_declared() -> None:
    for op in OPS:
        assert op.summary.endswith("."), op.name
        assert len(op.summary) <= 80, op.name
        assert op.doc, op.name
        assert op.examples, op.name
        assert op.args_type.__doc__, op.name
        assert find_operation(op.command.split(), is_robot=False)[0] is op


def test_every_example_calls_its_operation() -> None:
    for op, example in [(one, example) for one in OPS for example in one.examples]:
        words = shlex.split(example.command_line.partition(" > ")[0])
        is_robot = words[:1] == ["robot"]
        _, rest = split_global_options(words[is_robot:])
        found, rest = find_operation(rest, is_robot)
        assert found is op, example.command_line
        assert isinstance(parse_arguments(op.args_type, rest), op.args_type), example.command_line


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_the_arguments_of_an_operation_are_unambiguous(op: Operation) -> None:
    known = list_arguments(op.args_type)
    flags = [flag for argument in known if not argument.is_positional for flag in argument.flags]
    assert len(flags) == len(set(flags))
    assert not {"-q", "--quiet", "-h", "--help", "--json", "--format", "--full", "--fields"} & set(flags)
    positionals = [argument for argument in known if argument.is_positional]
    assert sum(not argument.is_required for argument in positionals) <= 1
    assert all(argument.is_required for argument in positionals[:-1])
    assert all(argument.default is False for argument in known if argument.is_switch)
