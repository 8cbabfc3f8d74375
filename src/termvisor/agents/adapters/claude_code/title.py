"""The pane's title: `✳ Claude Code`, or `✳` and what it calls the session. It does not change with the state."""

import re

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.statements import Said, shown

_TITLE = re.compile(r"(?:[✳✻✶✢✽·⠂⠐] )?(\S.*)")
_PRODUCT = "Claude Code"


def title_matches(title: str) -> bool:
    return title.startswith("✳ ") or title == _PRODUCT


def read(record: Record) -> list[Said]:
    """Its product's name is no title of a session."""
    found = _TITLE.fullmatch(record.text.strip())
    words = shown(found[1]) if found else ""
    return [Said(kind="note", title="" if words == _PRODUCT else words)]
