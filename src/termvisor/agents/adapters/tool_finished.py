"""Parse hook records that report the end of a tool call. All agents with such hooks use the same format."""

from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import JSON_ERRORS, NS_PER_MS
from termvisor.model.agent.tool_finished import ToolFinished, encode_tool_input
from termvisor.redaction import redact

_TOOL_END_EVENTS = frozenset({"PostToolUse", "PostToolUseFailure", "PermissionDenied"})


class _ToolPayload(Struct, frozen=True):
    tool_name: str
    session_id: str
    tool_input: Any = None


class _ToolHookLine(Struct, frozen=True):
    event: str
    at: int
    payload: _ToolPayload


def parse_tool_end(record: SourceRecord) -> ToolFinished | None:
    """Return the finished tool call; None for any other record."""
    if record.source != "hook" or not any(f'"{name}"' in record.text for name in _TOOL_END_EVENTS):
        return None
    try:
        line = msgspec.json.decode(record.text, type=_ToolHookLine)
    except JSON_ERRORS:
        return None
    if line.event not in _TOOL_END_EVENTS:
        return None
    payload = line.payload
    tool_input = redact(encode_tool_input(payload.tool_input))
    return ToolFinished(session=payload.session_id, tool=payload.tool_name, given=tool_input, at=line.at * NS_PER_MS)
