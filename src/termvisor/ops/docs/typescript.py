"""TypeScript types of every op's Input and Output, made from the same JSON Schemas."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from termvisor.ops.api.envelope import Envelope
from termvisor.ops.api.operation import Op

_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def types(ops: Sequence[Op]) -> str:
    """One declaration file: a type for every struct, and `Ops`, which joins names with their types."""
    shapes = [Envelope, *(op.Input for op in ops), *(op.Output for op in ops)]
    unique = list(dict.fromkeys(shapes))
    references, parts = msgspec.json.schema_components(unique, ref_template="{name}")
    names = {shape: reference["$ref"] for shape, reference in zip(unique, references, strict=True)}
    blocks = ["// Generated from the operations' declarations. Do not edit."]
    blocks += [_declared(name, part) for name, part in sorted(parts.items())]
    blocks.append("\n".join(_joined(ops, names)))
    return "\n\n".join(blocks) + "\n"


def _joined(ops: Sequence[Op], names: dict[Any, str]) -> Iterator[str]:
    yield "export interface Ops {"
    for op in ops:
        kind = "items" if op.is_stream else "output"
        yield f"  {op.name}: {{ input: {names[op.Input]}; {kind}: {names[op.Output]} }};"
    yield "}"


def _declared(name: str, part: dict[str, Any]) -> str:
    lines = [f"/** {part['description']} */"] if "description" in part else []
    required = part.get("required", [])
    lines.append(f"export interface {name} {{")
    for field, inner in part.get("properties", {}).items():
        if "description" in inner:
            lines.append(f"  /** {inner['description']} */")
        lines.append(f"  {field}{'' if field in required else '?'}: {spelled(inner)};")
    return "\n".join([*lines, "}"])


def spelled(part: dict[str, Any]) -> str:
    """A schema as a TypeScript type."""
    if "$ref" in part:
        return str(part["$ref"])
    if "anyOf" in part:
        return " | ".join(spelled(inner) for inner in part["anyOf"])
    if "enum" in part:
        return " | ".join(msgspec.json.encode(value).decode() for value in part["enum"])
    if part.get("type") == "array":
        return _array(part)
    if part.get("type") == "object":
        return f"Record<string, {spelled(part.get('additionalProperties', {}))}>"
    return _PLAIN.get(part.get("type", ""), "unknown")


def _array(part: dict[str, Any]) -> str:
    if "prefixItems" in part:
        return f"[{', '.join(spelled(inner) for inner in part['prefixItems'])}]"
    return f"Array<{spelled(part.get('items') or {})}>"
