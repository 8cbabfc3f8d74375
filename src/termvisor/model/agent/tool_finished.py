"""A tool that an agent used came to its end, as the agent's own hook tells it: whoever asked about it was answered."""

import msgspec
from msgspec import Struct


class ToolFinished(Struct, frozen=True, kw_only=True):
    """``given`` is what the tool was given, redacted and as `spelled` writes it."""

    session: str
    tool: str
    given: str
    at: int


def encode_tool_input(tool_input: object) -> str:
    """The same text for the same thing, however its keys are ordered."""
    return msgspec.json.encode(tool_input, order="sorted").decode()
