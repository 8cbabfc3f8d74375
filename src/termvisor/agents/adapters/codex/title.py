"""The pane's title: a call for a person, or the folder behind a spinner."""

import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.statements import AgentStatement, redact_text

_SPINNER_PREFIX = re.compile(r"[\u2801-\u28ff] ")
_ACTION_REQUIRED_PREFIX = re.compile(r"\[ [!.] \] Action Required(?: \| |$)")


def title_matches(title: str) -> bool:
    """Most of the time it names the folder only, which is no sign of Codex."""
    return _ACTION_REQUIRED_PREFIX.match(title) is not None or "codex" in title.lower().split()


def read_title(record: SourceRecord) -> list[AgentStatement]:
    """A call for a person is told; a spinner is not, for it turns before words that stay the same."""
    words = record.text.strip()
    if not words:
        return []
    called, spun = _ACTION_REQUIRED_PREFIX.match(words), _SPINNER_PREFIX.match(words)
    if called:
        return [AgentStatement(state="waiting_approval", title=redact_text(words[called.end() :]))]
    rest = words[spun.end() :] if spun else words
    return [AgentStatement(state="unknown", reason="no_signal", title=redact_text(rest))]
