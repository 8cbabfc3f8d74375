"""JSON Schemas of what ops take and give, and of the envelope. Derived; nothing is declared here."""

from typing import Any

import msgspec
from msgspec import Struct

from termvisor.ops.api.envelope import SCHEMA_VERSION, Envelope
from termvisor.ops.api.operation import Op

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(shape: type[Struct], name: str) -> dict[str, Any]:
    """A complete schema document; ``name`` becomes its id."""
    head = {"$schema": DIALECT, "$id": f"urn:termvisor:schema:{SCHEMA_VERSION}:{name}"}
    return head | msgspec.json.schema(shape)


def input_schema(op: Op) -> dict[str, Any]:
    return schema(op.Input, f"{op.name}.input")


def output_schema(op: Op) -> dict[str, Any]:
    return schema(op.Output, f"{op.name}.output")


def envelope_schema() -> dict[str, Any]:
    return schema(Envelope, "envelope")
