"""Find the agent whose adapter has to read a record. Pure."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord, WatchedPath
from termvisor.model.agent.agent_process import AgentProcess

HOOK_SOURCE = "hook"


class _HookHeader(Struct):
    agent: str


class AgentWatch(Struct, frozen=True):
    agent: str
    watch: WatchedPath


def find_record_owner(
    record: SourceRecord,
    agents_with_source: Sequence[str],
    watched: Iterable[AgentWatch],
    agent_processes: Iterable[AgentProcess],
) -> str:
    """Return the agent that the hook names, that watches the file, or whose process it is; empty if unknown."""
    if record.source == HOOK_SOURCE:
        return _parse_hook_agent(record.text)
    if len(agents_with_source) == 1:
        return agents_with_source[0]
    agents = {one.agent for one in watched if _is_under_watch(record, one.watch)}
    if not agents and record.hint.pid:
        agents = {process.agent for process in agent_processes if process.pid == record.hint.pid}
    owners = agents.intersection(agents_with_source)
    return owners.pop() if len(owners) == 1 else ""


def _parse_hook_agent(text: str) -> str:
    try:
        return msgspec.json.decode(text, type=_HookHeader).agent
    except msgspec.DecodeError:
        return ""


def _is_under_watch(record: SourceRecord, watch: WatchedPath) -> bool:
    return record.source == watch.source and record.path.startswith(f"{watch.folder.rstrip('/')}/")
