"""Laws: what an op takes and gives survives the envelope, and an Input survives the command line."""

from functools import cache
from typing import Any, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import list_arguments, parse_arguments, render_arguments, split_global_options
from termvisor.ops.api.envelope import build_success, encode_json_line
from termvisor.ops.api.operation import Operation
from termvisor.testing.fake_clock import FakeClock
from tests.fuzz.example_count import build_settings

OPS = catalog.load_all_operations()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WHOLE = st.integers(min_value=1, max_value=100)
NUMBER = st.integers(min_value=1, max_value=600_000).map(float) | st.floats(min_value=0.001, max_value=600_000)


def _value(info: Any) -> st.SearchStrategy[Any]:
    """Values of a type as msgspec describes it."""
    kinds = msgspec.inspect
    by_kind: dict[type, Any] = {
        kinds.NoneType: lambda: st.none(),
        kinds.BoolType: lambda: st.booleans(),
        kinds.IntType: lambda: WHOLE,
        kinds.FloatType: lambda: NUMBER.map(lambda number: min(number, info.le or number)),
        kinds.AnyType: lambda: st.none() | TEXT | WHOLE,
        kinds.StrType: lambda: _text(info),
        kinds.BytesType: lambda: st.binary(max_size=20),
        kinds.LiteralType: lambda: st.sampled_from(info.values),
        kinds.UnionType: lambda: st.one_of([_value(part) for part in info.types]),
        kinds.VarTupleType: lambda: _many(info).map(tuple),
        kinds.TupleType: lambda: st.tuples(*(_value(part) for part in info.item_types)),
        kinds.DictType: lambda: st.dictionaries(_value(info.key_type), _value(info.value_type), max_size=3),
        kinds.StructType: lambda: _struct(info.cls),
        kinds.Metadata: lambda: _value(info.type),
    }
    made: st.SearchStrategy[Any] = by_kind[type(info)]()
    return made


def _text(info: Any) -> st.SearchStrategy[str]:
    if info.pattern:
        return st.from_regex(info.pattern.replace("$", r"\Z"))
    return TEXT.filter(lambda text: len(text) >= (info.min_length or 0))


def _many(info: Any) -> st.SearchStrategy[list[Any]]:
    return st.lists(_value(info.item_type), min_size=info.min_length or 0, max_size=3)


@cache
def _struct(shape: type[Struct]) -> st.SearchStrategy[Any]:
    fields = msgspec.inspect.type_info(shape).fields  # type: ignore[attr-defined]
    return st.builds(shape, **{field.name: _value(field.type) for field in fields})


_EXAMPLES = 15
"""A few for each of the many operations."""


@pytest.mark.parametrize("shape", [op.result_type for op in OPS[::5]], ids=lambda shape: shape.__name__)
@build_settings(_EXAMPLES)
@given(data=st.data())
def test_a_result_survives_the_envelope(shape: type[Struct], data: st.DataObject) -> None:
    value = data.draw(_struct(shape))
    line = encode_json_line(build_success(value, FakeClock(), 0.0))
    assert line.count(b"\n") == 1
    assert msgspec.convert(msgspec.json.decode(line)["data"], shape) == value


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
@build_settings(_EXAMPLES)
@given(data=st.data())
def test_an_input_survives_the_command_line_and_is_not_mistaken_for_a_general_option(
    op: Operation, data: st.DataObject
) -> None:
    value = data.draw(_struct(op.args_type))
    words = render_arguments(value)
    assert parse_arguments(op.args_type, words) == value
    options, rest = split_global_options(words)
    assert (rest, options.is_quiet, options.wants_help, options.format) == (words, False, False, "auto")


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_argument_says_what_it_means(op: Operation) -> None:
    assert all(argument.doc for argument in list_arguments(op.args_type))
    assert set(get_type_hints(op.args_type)) == {argument.field for argument in list_arguments(op.args_type)}
