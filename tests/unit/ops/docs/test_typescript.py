import re

import pytest

from termvisor.ops.api.catalog import load_all_operations
from termvisor.ops.docs.typescript import render_type, render_types


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "integer"}, "number"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"enum": ["a", 1]}, '"a" | 1'),
        ({"type": "array", "items": {"$ref": "Pane"}}, "Array<Pane>"),
        ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]}, "[number, number]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "Record<string, number>"),
        ({}, "unknown"),
    ],
)
def test_schemas_are_rendered_as_typescript_types(part: dict[str, object], text: str) -> None:
    assert render_type(part) == text


def test_every_named_type_is_declared_once() -> None:
    text = render_types(load_all_operations())
    declared = re.findall(r"^export interface (\w+)", text, re.MULTILINE)
    used = set(re.findall(r"\b([A-Z]\w+)\b", re.sub(r'/\*\*[\s\S]*?\*/|//.*|"[^"]*"', "", text)))
    assert len(declared) == len(set(declared))
    assert used - {"Array", "Record"} == set(declared)


def test_every_operation_is_mapped_to_its_types() -> None:
    text = render_types(load_all_operations())
    assert "  list_panes: { input: ListPanesArgs; output: PaneListing };" in text
    assert "  watch_events: { input: WatchEventsArgs; items: EventItem };" in text
