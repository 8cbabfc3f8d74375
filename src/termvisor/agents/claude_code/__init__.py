"""Claude Code, by Anthropic.

It speaks in a registry file for each process (best, and without any set-up), in hooks, in its transcript, and by OSC
7501 where the terminal asked for it. Its screens are known as well, as an independent witness.
"""

import re
from collections.abc import Sequence

from termvisor.agents.base import CONTRACT_VERSION, Capability, Process, Record, Seen, Watch
from termvisor.agents.claude_code import hook, osc, registry, transcript
from termvisor.agents.claude_code.look import look
from termvisor.agents.claude_code.places import ENV_NAMES, watches
from termvisor.agents.claude_code.recognise import AGENT, recognise
from termvisor.agents.claude_code.title import read as read_title
from termvisor.agents.claude_code.title import title_matches
from termvisor.model.screen import Screen
from termvisor.model.signal import Signal
from termvisor.model.source import SOURCES

_READERS = {
    "registry": registry.read,
    "osc": osc.read,
    "hook": hook.read,
    "transcript": transcript.read,
    "title": read_title,
}
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class ClaudeCode:
    name = AGENT
    contract_version = CONTRACT_VERSION
    capabilities: frozenset[Capability] = frozenset(
        ("recognise", "signals", "look", "subtasks", "usage_limit", "compaction", "auth", "answer", "resume")
    )
    sources = SOURCES[AGENT]
    env_names = ENV_NAMES

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return recognise(processes)

    def title_matches(self, title: str) -> bool:
        return title_matches(title)

    def watches(self, process: Process) -> Sequence[Watch]:
        return watches(process)

    def read(self, record: Record) -> Sequence[Signal]:
        reader = _READERS.get(record.source)
        return reader(record) if reader is not None else ()

    def look(self, screen: Screen) -> Seen:
        return look(screen)

    def resume_command(self, session: str) -> tuple[str, ...]:
        """In the folder in which the session began; elsewhere it is not found."""
        return ("claude", "--resume", session) if _SESSION.fullmatch(session) else ()


ADAPTER = ClaudeCode()
