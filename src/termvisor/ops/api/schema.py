"""Build JSON Schemas of the arguments and results of operations, and of the envelope, from their structs."""

from typing import Any

import msgspec
from msgspec import Struct

from termvisor.ops.api.envelope import SCHEMA_VERSION, Envelope
from termvisor.ops.api.operation import Operation

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def build_schema(struct_type: type[Struct], name: str) -> dict[str, Any]:
    """Build a complete schema document; ``name`` becomes part of its id."""
    head = {"$schema": SCHEMA_DIALECT, "$id": f"urn:termvisor:schema:{SCHEMA_VERSION}:{name}"}
    return head | msgspec.json.schema(struct_type)


def build_input_schema(op: Operation) -> dict[str, Any]:
    return build_schema(op.args_type, f"{op.name}.input")


def build_output_schema(op: Operation) -> dict[str, Any]:
    return build_schema(op.result_type, f"{op.name}.output")


def build_envelope_schema() -> dict[str, Any]:
    return build_schema(Envelope, "envelope")
