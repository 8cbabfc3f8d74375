"""Generate TypeScript types of all arguments and results from their JSON Schemas."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from termvisor.ops.api.envelope import Envelope
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.schema import build_result_schemas

_PRIMITIVE_TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def render_types(ops: Sequence[Operation]) -> str:
    """Render one declaration file: a type per struct, and `Ops`, which maps operations to their types."""
    inputs = list(dict.fromkeys([Envelope, *(op.args_type for op in ops)]))
    results = list(dict.fromkeys(op.result_type for op in ops))
    input_references, input_parts = msgspec.json.schema_components(inputs, ref_template="{name}")
    result_references, result_parts = build_result_schemas(results, "{name}")
    shapes, references = [*inputs, *results], [*input_references, *result_references]
    names = {shape: reference["$ref"] for shape, reference in zip(shapes, references, strict=True)}
    parts = input_parts | result_parts
    blocks = ["// Generated from the operations' declarations. Do not edit."]
    blocks += [_render_interface(name, part) for name, part in sorted(parts.items())]
    blocks.append("\n".join(_render_operations_interface(ops, names)))
    return "\n\n".join(blocks) + "\n"


def _render_operations_interface(ops: Sequence[Operation], names: dict[Any, str]) -> Iterator[str]:
    yield "export interface Ops {"
    for op in ops:
        kind = "items" if op.is_stream else "output"
        yield f"  {op.name}: {{ input: {names[op.args_type]}; {kind}: {names[op.result_type]} }};"
    yield "}"


def _render_interface(name: str, schema: dict[str, Any]) -> str:
    lines = [f"/** {schema['description']} */"] if "description" in schema else []
    required = schema.get("required", [])
    lines.append(f"export interface {name} {{")
    for field, inner in schema.get("properties", {}).items():
        if "description" in inner:
            lines.append(f"  /** {inner['description']} */")
        lines.append(f"  {field}{'' if field in required else '?'}: {render_type(inner)};")
    return "\n".join([*lines, "}"])


def render_type(schema: dict[str, Any]) -> str:
    """Render a schema as a TypeScript type."""
    if "$ref" in schema:
        return str(schema["$ref"])
    if "anyOf" in schema:
        return " | ".join(render_type(inner) for inner in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(msgspec.json.encode(value).decode() for value in schema["enum"])
    if schema.get("type") == "array":
        return _render_array_type(schema)
    if schema.get("type") == "object":
        return f"Record<string, {render_type(schema.get('additionalProperties', {}))}>"
    return _PRIMITIVE_TYPES.get(schema.get("type", ""), "unknown")


def _render_array_type(schema: dict[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(render_type(inner) for inner in schema['prefixItems'])}]"
    return f"Array<{render_type(schema.get('items') or {})}>"
