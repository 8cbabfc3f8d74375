"""The pane's title: `✳ Claude Code`, or `✳` and what it calls the session. It does not change with the state."""

import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.statements import AgentStatement, redact_text

_TITLE_PATTERN = re.compile(r"(?:[✳✻✶✢✽·⠂⠐] )?(\S.*)")
_PRODUCT_NAME = "Claude Code"


def title_matches(title: str) -> bool:
    return title.startswith("✳ ") or title == _PRODUCT_NAME


def read_title(record: SourceRecord) -> list[AgentStatement]:
    """Its product's name is no title of a session."""
    found = _TITLE_PATTERN.fullmatch(record.text.strip())
    words = redact_text(found[1]) if found else ""
    return [AgentStatement(kind="note", title="" if words == _PRODUCT_NAME else words)]
