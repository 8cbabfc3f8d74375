"""Read pane titles of Claude Code: `✳ Claude Code`, or `✳` and the session title. They do not show the state."""

import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.statements import AgentStatement, redact_text

_TITLE_PATTERN = re.compile(r"(?:[✳✻✶✢✽·⠂⠐] )?(\S.*)")
_PRODUCT_NAME = "Claude Code"


def matches_title(title: str) -> bool:
    return title.startswith("✳ ") or title == _PRODUCT_NAME


def read_title(record: SourceRecord) -> list[AgentStatement]:
    """Return the session title; empty if the pane title is only the product name."""
    match = _TITLE_PATTERN.fullmatch(record.text.strip())
    title = redact_text(match[1]) if match else ""
    return [AgentStatement(kind="note", title="" if title == _PRODUCT_NAME else title)]
