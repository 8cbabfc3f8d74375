"""Reads from an agent's hook that a tool came to its end. Agents that have such hooks tell it in the same words."""

from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.json_access import BROKEN, MILLISECOND
from termvisor.model.agent.tool_finished import ToolEnd, spelled
from termvisor.redaction import redact

_ENDS = frozenset({"PostToolUse", "PostToolUseFailure", "PermissionDenied"})


class _Told(Struct, frozen=True):
    tool_name: str
    session_id: str
    tool_input: Any = None


class _Line(Struct, frozen=True):
    event: str
    at: int
    payload: _Told


def tool_end(record: Record) -> ToolEnd | None:
    """None for whatever else was told."""
    if record.source != "hook" or not any(f'"{name}"' in record.text for name in _ENDS):
        return None
    try:
        line = msgspec.json.decode(record.text, type=_Line)
    except BROKEN:
        return None
    told = line.payload
    if line.event not in _ENDS:
        return None
    given = redact(spelled(told.tool_input))
    return ToolEnd(session=told.session_id, tool=told.tool_name, given=given, at=line.at * MILLISECOND)
