"""The pane's title: a call for a person, or the folder behind a spinner."""

import re

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.statements import Said, shown

_WORKING = re.compile(r"[\u2801-\u28ff] ")
_ASKING = re.compile(r"\[ [!.] \] Action Required(?: \| |$)")


def title_matches(title: str) -> bool:
    """Most of the time it names the folder only, which is no sign of Codex."""
    return _ASKING.match(title) is not None or "codex" in title.lower().split()


def read(record: Record) -> list[Said]:
    """A call for a person is told; a spinner is not, for it turns before words that stay the same."""
    words = record.text.strip()
    if not words:
        return []
    called, spun = _ASKING.match(words), _WORKING.match(words)
    if called:
        return [Said(state="waiting_approval", title=shown(words[called.end() :]))]
    rest = words[spun.end() :] if spun else words
    return [Said(state="unknown", reason="no_signal", title=shown(rest))]
