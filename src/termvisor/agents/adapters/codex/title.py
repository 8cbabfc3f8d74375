"""Read pane titles of Codex: a request for action, or the folder after a spinner."""

import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.statements import AgentStatement, redact_text

_SPINNER_PREFIX = re.compile(r"[\u2801-\u28ff] ")
_ACTION_REQUIRED_PREFIX = re.compile(r"\[ [!.] \] Action Required(?: \| |$)")


def matches_title(title: str) -> bool:
    """Return True for a title that names Codex; most of its titles contain only the folder."""
    return _ACTION_REQUIRED_PREFIX.match(title) is not None or "codex" in title.lower().split()


def read_title(record: SourceRecord) -> list[AgentStatement]:
    """Return the waiting state for a request for action, or only the title without the spinner."""
    text = record.text.strip()
    if not text:
        return []
    if match := _ACTION_REQUIRED_PREFIX.match(text):
        return [AgentStatement(state="waiting_approval", title=redact_text(text[match.end() :]))]
    spinner = _SPINNER_PREFIX.match(text)
    title = text[spinner.end() :] if spinner else text
    return [AgentStatement(state="unknown", reason="no_signal", title=redact_text(title))]
