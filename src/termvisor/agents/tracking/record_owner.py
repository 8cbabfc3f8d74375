"""Whose record it is: the agent whose adapter is to read it. Pure."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import Record, Watch
from termvisor.model.agent.agent_process import Runtime

HOOK = "hook"


class _Hook(Struct):
    agent: str


class Watched(Struct, frozen=True):
    agent: str
    watch: Watch


def origin(record: Record, speaking: Sequence[str], watched: Iterable[Watched], living: Iterable[Runtime]) -> str:
    """Among those who have such a source: the one that the hook names, that asked for the file, or whose process it is.

    Empty where nobody can be named.
    """
    if record.source == HOOK:
        return _named(record.text)
    if len(speaking) == 1:
        return speaking[0]
    asked = {one.agent for one in watched if _is_of(record, one.watch)}
    if not asked and record.hint.pid:
        asked = {one.agent for one in living if one.pid == record.hint.pid}
    found = asked.intersection(speaking)
    return found.pop() if len(found) == 1 else ""


def _named(text: str) -> str:
    try:
        return msgspec.json.decode(text, type=_Hook).agent
    except msgspec.DecodeError:
        return ""


def _is_of(record: Record, watch: Watch) -> bool:
    return record.source == watch.source and record.path.startswith(f"{watch.folder.rstrip('/')}/")
