from typing import Any, ClassVar

import msgspec
import pytest
from msgspec import Struct

from termvisor.ops.api import catalog, schema
from termvisor.ops.api.envelope import build_sparse_value, parse_field_paths, select_fields
from termvisor.ops.api.operation import Operation
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import OPERATION_CALLS, run_command
from termvisor.testing.sample_services import build_sample_services


class _Inner(Struct, frozen=True, kw_only=True):
    name: str = "local"
    size: int = 0


class _Outer(Struct, frozen=True, kw_only=True):
    detail_fields: ClassVar[tuple[str, ...]] = ("journal",)

    id: int
    inner: _Inner = _Inner()
    title: str
    note: str | None
    tags: tuple[str, ...]
    counts: dict[str, int]
    is_open: bool
    is_complete: bool = True
    exit_status: int
    journal: str
    rows: tuple[_Inner, ...] = ()


_EMPTY: dict[str, Any] = {"title": "", "note": None, "tags": (), "counts": {}, "is_open": False, "exit_status": 0}


def test_nulls_empties_defaults_and_details_are_left_out() -> None:
    assert build_sparse_value(_Outer(id=1, journal="long", **_EMPTY)) == {"id": 1, "exit_status": 0}


def test_a_value_that_differs_from_its_default_is_printed_even_if_it_is_empty_or_false() -> None:
    value = _Outer(id=1, journal="", inner=_Inner(name=""), is_complete=False, **(_EMPTY | {"note": ""}))
    assert build_sparse_value(value) == {
        "id": 1,
        "inner": {"name": ""},
        "note": "",
        "is_complete": False,
        "exit_status": 0,
    }


def test_items_stay_in_their_place_and_the_keys_of_objects_stay() -> None:
    value = _Outer(id=1, journal="", rows=(_Inner(), _Inner(size=2)), **(_EMPTY | {"counts": {"none": 0}}))
    assert build_sparse_value(value) == {"id": 1, "counts": {"none": 0}, "exit_status": 0, "rows": [{}, {"size": 2}]}


def test_selected_fields_are_printed_in_the_order_asked_even_with_their_default() -> None:
    value = _Outer(id=1, journal="long", rows=(_Inner(), _Inner(size=2)), **_EMPTY)
    tree = parse_field_paths(["journal", "note", "rows.size"], _Outer)
    assert list(select_fields(value, tree, is_full=False).items()) == [
        ("journal", "long"),
        ("note", None),
        ("rows", [{"size": 0}, {"size": 2}]),
    ]


@pytest.mark.parametrize("op", catalog.load_all_operations(), ids=lambda op: op.name)
async def test_the_schema_says_what_a_missing_field_means(
    op: Operation, tmp_path_factory: pytest.TempPathFactory
) -> None:
    places = Paths(*(str(tmp_path_factory.mktemp(name)) for name in ("config", "data", "run")))
    answered = await run_command(await build_sample_services(places, op.name), "robot", *OPERATION_CALLS[op.name])
    for line in answered.items:
        full = line if op.is_stream else line["data"]
        sparse = _encode_and_decode(build_sparse_value(msgspec.convert(full, op.result_type)))
        document = _encode_and_decode(schema.build_output_schema(op))
        restored, whole = (_restore(value, document, document["$defs"]) for value in (sparse, full))
        assert restored == _drop_details(whole, document, document["$defs"])


def _encode_and_decode(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _restore(value: Any, part: dict[str, Any], parts: dict[str, Any]) -> Any:
    """Insert the defaults of the schema, as a client would."""
    if isinstance(value, list):
        return [_restore(item, part["items"], parts) for item in value] if part.get("items") else value
    properties = _find_properties(value, part, parts)
    defaults = {
        name: _restore(inner["default"], inner, parts) for name, inner in properties.items() if "default" in inner
    }
    present = {name: _restore(value[name], inner, parts) for name, inner in properties.items() if name in (value or ())}
    return defaults | present if properties else value


def _drop_details(value: Any, part: dict[str, Any], parts: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_drop_details(item, part["items"], parts) for item in value] if part.get("items") else value
    properties = _find_properties(value, part, parts)
    shown = {
        name: inner for name, inner in properties.items() if schema.DETAIL_NOTE not in inner.get("description", "")
    }
    return {name: _drop_details(value[name], shown[name], parts) for name in shown} if properties else value


def _find_properties(value: Any, part: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of an object that is described by a struct; empty for other values."""
    options = [part, *part.get("anyOf", ())] if isinstance(value, dict) else []
    names = [option["$ref"].rpartition("/")[2] for option in options if "$ref" in option]
    return dict(parts[names[0]]["properties"]) if names else {}


async def test_fields_are_chosen_in_the_items_of_a_listing() -> None:
    services = await build_sample_services(op="list_panes")
    answered = await run_command(
        services, "robot", "state", "--pane", "2", "--fields", "identity.id,state,width", is_full=False
    )
    assert answered.envelope["data"] == {"items": [{"identity": {"id": 2}, "state": "waiting_approval", "width": 120}]}


async def test_fields_of_the_listing_itself_may_be_chosen_too() -> None:
    services = await build_sample_services(op="list_panes")
    answered = await run_command(services, "robot", "state", "--fields=summary.panes,summary.by_target.local")
    assert answered.envelope["data"] == {"summary": {"panes": 5, "by_target": {"local": 5}}}


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ("stat", "Fields here: state"),
        ("identity.pane", "Fields here: pane_id"),
        ("state.name", "`state` has no fields inside."),
        ("state,,", "For example `--fields id,state,identity.pane_id`."),
    ],
)
async def test_a_field_that_does_not_exist_is_refused_before_anything_is_done(fields: str, hint: str) -> None:
    services = await build_sample_services(op="list_panes")
    answer = (await run_command(services, "robot", "state", "--fields", fields)).envelope
    assert (answer["error"]["code"], answer["hint"][: len(hint)]) == ("invalid_args", hint)


async def test_fields_are_refused_for_text() -> None:
    answered = await run_command(FakeServices(), "panes", "--fields", "state")
    assert (answered.status, answered.err.splitlines()[0]) == (2, "visor: --fields selects fields of JSON")


async def test_every_line_of_a_live_stream_is_sparse_and_an_export_is_complete() -> None:
    services = await build_sample_services()
    watched = (await run_command(services, "robot", "watch-events", "--once", is_full=False)).items
    exported = [
        (await run_command(services, "robot", "export", "1", is_full=is_full)).items for is_full in (False, True)
    ]
    assert watched[0] == {"cursor": "1", "at": watched[0]["at"], "kind": "daemon_started", "data": watched[0]["data"]}
    assert exported[0] == exported[1]
