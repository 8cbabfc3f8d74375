"""A tool of an agent finished, as reported by its hook: a pending permission request for it was answered."""

import msgspec
from msgspec import Struct


class ToolFinished(Struct, frozen=True, kw_only=True):
    """``given`` is the redacted input of the tool, as `encode_tool_input` returns it."""

    session: str
    tool: str
    given: str
    at: int


def encode_tool_input(tool_input: object) -> str:
    """Encode the input of a tool as JSON with sorted keys, so that equal inputs compare equal."""
    return msgspec.json.encode(tool_input, order="sorted").decode()
