"""Editing JSON text keeps every other byte."""

import pytest

from termvisor.setup.json_edit import (
    JsonShapeError,
    append_item,
    find_leaves,
    get_member,
    parse_tree,
    remove_items,
    set_member,
)

OURS = '{"run":"ours"}'


def is_ours(leaf: str) -> bool:
    return "ours" in leaf


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "a": {\n    "b": [1]\n  }\n}'),
        ('{"x":1}', '{"x":1, "a": {"b": [1]}}'),
        ('{\n\t"x": 1\n}\n', '{\n\t"x": 1,\n\t"a": {\n\t  "b": [1]\n\t}\n}\n'),
        ('{"a": {"b": []}}', '{"a": {"b": [1]}}'),
        ('{"a": {"b": [ 0 ] }}', '{"a": {"b": [ 0, 1 ] }}'),
        ('{"a": {"c": "}]\\""}}', '{"a": {"c": "}]\\"", "b": [1]}}'),
        ('{"\\u0061": {}, "z": 1}', '{"\\u0061": {\n  "b": [1]\n}, "z": 1}'),
    ],
)
def test_an_item_is_inserted_in_the_existing_style(text: str, expected: str) -> None:
    assert append_item(text, ("a", "b"), "1") == expected


@pytest.mark.parametrize(
    ("text", "why"), [('{"a": []}', "a is not an object"), ('{"a": {"b": {}}}', "a.b is not a list")]
)
def test_an_unexpected_structure_is_rejected(text: str, why: str) -> None:
    with pytest.raises(JsonShapeError, match=why):
        append_item(text, ("a", "b"), "1")


@pytest.mark.parametrize("text", ["", "{", "{} x", '{"a": 01}', "[" * 100_000, "{'a': 1}", '{"a": 1,}', "// note\n{}"])
def test_invalid_json_is_reported(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_tree(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{{"h": {{"a": [{OURS}]}}, "x": 1}}', '{"x": 1}'),
        (f'{{"x": 1,\n "h": {{"a": [{OURS}]}}}}', '{"x": 1}'),
        (f'{{"h": {{"a": [{OURS}]}}}}', "{}"),
        (f'{{"h": {{"a": [{{"m": "*", "hooks": [{OURS}]}}, 2]}}}}', '{"h": {"a": [2]}}'),
        (f'{{"h": {{"a": [1, {OURS}, {{"run":"theirs"}}, {OURS}]}}}}', '{"h": {"a": [1, {"run":"theirs"}]}}'),
        (
            f'{{"h": {{"a": [{{"hooks": [{{"run":"theirs"}}, {OURS}]}}], "b": []}}}}',
            '{"h": {"a": [{"hooks": [{"run":"theirs"}]}], "b": []}}',
        ),
        (f'{{"other": [{OURS}]}}', f'{{"other": [{OURS}]}}'),
    ],
)
def test_visor_items_and_emptied_containers_are_removed(text: str, expected: str) -> None:
    assert remove_items(text, "h", is_ours) == expected


def test_visor_items_are_found_with_the_key_of_their_list() -> None:
    text = f'{{"h": {{"a": [{{"hooks": [{OURS}]}}, {{"run":"theirs"}}], "b": [{OURS}]}}}}'
    assert find_leaves(text, "h", is_ours) == [("a", OURS), ("b", OURS)]
    assert find_leaves("[]", "h", is_ours) == []


def test_one_value_is_set_and_everything_else_is_kept() -> None:
    assert set_member('{ "a": 1 }', "b", "2") == '{ "a": 1, "b": 2 }'
    assert set_member('{\n\t"a": 1\n}', "b", "2") == '{\n\t"a": 1,\n\t"b": 2\n}'
    assert set_member('{"b" :  [1], "a": 1}', "b", "2") == '{"b" :  2, "a": 1}'
    assert set_member("{}", "b", "2") == '{\n  "b": 2\n}'
    assert get_member('{"a": 1, "b" : {"c": 2}}', "b") == '{"c": 2}'
    assert get_member("{}", "b") is None
    with pytest.raises(JsonShapeError):
        set_member("[]", "b", "2")
