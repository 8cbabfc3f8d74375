"""Build JSON Schemas of the arguments and results of operations, and of the envelope, from their structs."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.ops.api.envelope import (
    NO_DEFAULT,
    SCHEMA_VERSION,
    Envelope,
    build_sparse_value,
    collect_structs,
    list_result_fields,
)
from termvisor.ops.api.operation import Operation

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
DETAIL_NOTE = "Only with `--full` or `--fields`."


def build_schema(struct_type: type[Struct], name: str) -> dict[str, Any]:
    """Build a complete schema document; ``name`` becomes part of its id."""
    return _build_head(name) | msgspec.json.schema(struct_type)


def _build_head(name: str) -> dict[str, str]:
    return {"$schema": SCHEMA_DIALECT, "$id": f"urn:termvisor:schema:{SCHEMA_VERSION}:{name}"}


def build_result_schemas(result_types: Sequence[type[Struct]], ref_template: str) -> tuple[list[Any], dict[str, Any]]:
    """Return a reference for each type and the schemas by name, as in `msgspec.json.schema_components`.

    A field that the default form leaves out is not required; its default is what a missing field means. Details have
    none: they are unknown unless `--full` or `--fields` asked for them.
    """
    references, schemas = msgspec.json.schema_components(result_types, ref_template=ref_template)
    for name, struct_type in collect_structs(result_types).items():
        _mark_optional_fields(schemas[name], struct_type)
    return list(references), schemas


def _mark_optional_fields(schema: dict[str, Any], struct_type: type[Struct]) -> None:
    for field in list_result_fields(struct_type):
        described = schema["properties"][field.name]
        if field.is_detail:
            described.pop("default", None)
            described["description"] = f"{described.get('description', '')} {DETAIL_NOTE}".strip()
        elif field.default is not NO_DEFAULT:
            described["default"] = build_sparse_value(field.default)
        else:
            continue
        schema["required"] = [name for name in schema["required"] if name != field.name]


def build_input_schema(op: Operation) -> dict[str, Any]:
    return build_schema(op.args_type, f"{op.name}.input")


def build_output_schema(op: Operation) -> dict[str, Any]:
    (reference,), schemas = build_result_schemas([op.result_type], "#/$defs/{name}")
    return {**_build_head(f"{op.name}.output"), **reference, "$defs": schemas}


def build_envelope_schema() -> dict[str, Any]:
    return build_schema(Envelope, "envelope")
