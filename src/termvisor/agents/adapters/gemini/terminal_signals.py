"""Read what Gemini CLI writes to its terminal besides the screen: pane titles and notifications."""

import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.statements import AgentStatement, build_payload
from termvisor.model.agent.state import StateName

# Gemini pads its titles with spaces to 80 characters.
_TITLE_PATTERN = re.compile(
    r"(?P<sign>[◇✦✋⏲])\s+(?P<words>Ready|Working…|Action Required|\S.{0,60}?)\s+\((?P<folder>.+)\)\s*"
)
_STATES_BY_SIGN: dict[str, StateName] = {"◇": "idle", "✦": "running", "✋": "waiting_approval", "⏲": "running"}
_STATES_BY_HEADING: dict[str, StateName] = {"Approval required": "waiting_approval", "Run finished": "completed"}


def matches_title(title: str) -> bool:
    return _TITLE_PATTERN.fullmatch(title) is not None


def read_title(record: SourceRecord) -> list[AgentStatement]:
    match = _TITLE_PATTERN.fullmatch(record.text)
    return [AgentStatement(state=_STATES_BY_SIGN[match["sign"]], title=match["folder"])] if match else []


def read_notification(record: SourceRecord) -> list[AgentStatement]:
    """Parse a notification. Notifications have the lowest rank, because none is sent when a question is answered."""
    heading, _, message = record.text.partition(" | ")
    state = _STATES_BY_HEADING.get(heading)
    return [AgentStatement(state=state, payload=build_payload(message=message))] if state is not None else []
