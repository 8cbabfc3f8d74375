"""Reads from an agent's hook that a tool came to its end. Agents that have such hooks tell it in the same words."""

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
    """None for whatever else was told."""
    if record.source != "hook" or not any(f'"{name}"' in record.text for name in _TOOL_END_EVENTS):
        return None
    try:
        line = msgspec.json.decode(record.text, type=_ToolHookLine)
    except JSON_ERRORS:
        return None
    told = line.payload
    if line.event not in _TOOL_END_EVENTS:
        return None
    given = redact(encode_tool_input(told.tool_input))
    return ToolFinished(session=told.session_id, tool=told.tool_name, given=given, at=line.at * NS_PER_MS)
