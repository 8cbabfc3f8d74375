"""Times in JSON are ISO 8601: no field named for an instant is a number."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from termvisor.ops.api import catalog

_INSTANT_NAME = re.compile(r"(?:.*_)?at|since|until|last_seen|generated_at")


def iterate_fields(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield name and schema of every field below a JSON schema."""
    nested = schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ()
    if isinstance(schema, dict) and isinstance(schema.get("properties"), dict):
        yield from ((name, str(field)) for name, field in schema["properties"].items())
    for part in nested:
        yield from iterate_fields(part)


@pytest.mark.parametrize("name", catalog.OPERATION_NAMES)
def test_no_instant_is_a_number(name: str) -> None:
    _, schemas = msgspec.json.schema_components([catalog.load_operation(name).result_type])
    numbers = {field for field, kind in iterate_fields(schemas) if "'integer'" in kind or "'number'" in kind}
    assert [field for field in sorted(numbers) if _INSTANT_NAME.fullmatch(field)] == []
