"""What one record of any of Codex' sources says."""

import re
from collections.abc import Callable, Sequence

from termvisor.agents.base import Record
from termvisor.agents.codex import hook, osc, rollout, server
from termvisor.agents.codex.recognise import AGENT
from termvisor.agents.evidence import Said, shown, signals
from termvisor.model.signal import Signal

_WORKING = re.compile(r"[\u2801-\u28ff] ")
_ASKING = re.compile(r"\[ [!.] \] Action Required(?: \| |$)")


def read(record: Record) -> Sequence[Signal]:
    reader = _READERS.get(record.source)
    return reader(record) if reader is not None else []


def title_matches(title: str) -> bool:
    """Most of the time it names the folder only, which is no sign of Codex."""
    return _ASKING.match(title) is not None or "codex" in title.lower().split()


def _title(record: Record) -> list[Signal]:
    """A call for a person is told; a spinner is not, for it turns before words that stay the same."""
    words = record.text.strip()
    if not words:
        return []
    called, spun = _ASKING.match(words), _WORKING.match(words)
    if called:
        return signals(AGENT, record, [Said(state="waiting_approval", title=shown(words[called.end() :]))])
    rest = words[spun.end() :] if spun else words
    return signals(AGENT, record, [Said(state="unknown", reason="no_signal", title=shown(rest))])


_READERS: dict[str, Callable[[Record], list[Signal]]] = {
    "osc": osc.read,
    "app_server": server.read,
    "hook": hook.read,
    "notify": hook.read,
    "rollout": rollout.read,
    "title": _title,
}
