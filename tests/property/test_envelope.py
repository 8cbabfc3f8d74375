"""Results round-trip through the envelope, and operation arguments through the command line."""

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


def _draw_value(info: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for a type as msgspec describes it."""
    kinds = msgspec.inspect
    by_kind: dict[type, Any] = {
        kinds.NoneType: lambda: st.none(),
        kinds.BoolType: lambda: st.booleans(),
        kinds.IntType: lambda: WHOLE,
        kinds.FloatType: lambda: NUMBER.map(lambda number: min(number, info.le or number)),
        kinds.AnyType: lambda: st.none() | TEXT | WHOLE,
        kinds.StrType: lambda: _draw_text(info),
        kinds.BytesType: lambda: st.binary(max_size=20),
        kinds.LiteralType: lambda: st.sampled_from(info.values),
        kinds.UnionType: lambda: st.one_of([_draw_value(part) for part in info.types]),
        kinds.VarTupleType: lambda: _draw_list(info).map(tuple),
        kinds.TupleType: lambda: st.tuples(*(_draw_value(part) for part in info.item_types)),
        kinds.DictType: lambda: st.dictionaries(_draw_value(info.key_type), _draw_value(info.value_type), max_size=3),
        kinds.StructType: lambda: st.deferred(lambda: _draw_struct(info.cls)),  # a result may contain itself
        kinds.Metadata: lambda: _draw_value(info.type),
    }
    strategy: st.SearchStrategy[Any] = by_kind[type(info)]()
    return strategy


def _draw_text(info: Any) -> st.SearchStrategy[str]:
    if info.pattern:
        return st.from_regex(info.pattern.replace("$", r"\Z"))
    return TEXT.filter(lambda text: len(text) >= (info.min_length or 0))


def _draw_list(info: Any) -> st.SearchStrategy[list[Any]]:
    return st.lists(_draw_value(info.item_type), min_size=info.min_length or 0, max_size=3)


@cache
def _draw_struct(shape: type[Struct]) -> st.SearchStrategy[Any]:
    fields = msgspec.inspect.type_info(shape).fields  # type: ignore[attr-defined]
    return st.builds(shape, **{field.name: _draw_value(field.type) for field in fields})


_EXAMPLES = 15
"""Few examples per operation, because there are many operations."""


@pytest.mark.parametrize("shape", [op.result_type for op in OPS[::5]], ids=lambda shape: shape.__name__)
@build_settings(_EXAMPLES)
@given(data=st.data())
def test_a_result_round_trips_through_the_envelope(shape: type[Struct], data: st.DataObject) -> None:
    value = data.draw(_draw_struct(shape))
    line = encode_json_line(build_success(value, FakeClock(), 0.0))
    assert line.count(b"\n") == 1
    assert msgspec.convert(msgspec.json.decode(line)["data"], shape) == value


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
@build_settings(_EXAMPLES)
@given(data=st.data())
def test_arguments_round_trip_through_the_command_line_and_match_no_global_option(
    op: Operation, data: st.DataObject
) -> None:
    value = data.draw(_draw_struct(op.args_type))
    arguments = render_arguments(value)
    assert parse_arguments(op.args_type, arguments) == value
    options, rest = split_global_options(arguments)
    assert (rest, options.is_quiet, options.wants_help, options.format) == (arguments, False, False, "auto")


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_argument_has_a_description(op: Operation) -> None:
    assert all(argument.doc for argument in list_arguments(op.args_type))
    assert set(get_type_hints(op.args_type)) == {argument.field for argument in list_arguments(op.args_type)}
