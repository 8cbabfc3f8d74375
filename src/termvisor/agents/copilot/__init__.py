"""GitHub Copilot CLI.

It keeps a log of events for each session, without any set-up and without holes; a lock beside it names the process.
Its hooks say less, but sooner than the first prompt's log, and can answer for a person.
"""

from collections.abc import Sequence

from termvisor.agents.base import CONTRACT_VERSION, Capability, Process, Record, Seen, Watch
from termvisor.agents.copilot import events, hooks, look, recognise
from termvisor.agents.evidence import signals
from termvisor.model.screen import Screen
from termvisor.model.signal import Signal
from termvisor.model.source import SOURCES

_READERS = {"session_file": events.said_by, "hook": hooks.said_by}


class Copilot:
    name = "copilot"
    contract_version = CONTRACT_VERSION
    capabilities: frozenset[Capability] = frozenset(
        {"recognise", "signals", "look", "subtasks", "usage_limit", "compaction", "auth", "answer", "resume"}
    )
    sources = SOURCES["copilot"]
    env_names = recognise.ENV_NAMES

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return recognise.recognise(processes)

    def title_matches(self, title: str) -> bool:
        return title == "GitHub Copilot" or title.endswith(" - GitHub Copilot")

    def watches(self, process: Process) -> Sequence[Watch]:
        return recognise.watches(process)

    def read(self, record: Record) -> Sequence[Signal]:
        reader = _READERS.get(record.source)
        said = reader(record) if reader is not None else None
        return signals(self.name, record, [said]) if said is not None else ()

    def look(self, screen: Screen) -> Seen:
        return look.look(screen)

    def resume_command(self, session: str) -> tuple[str, ...]:
        return ("copilot", f"--resume={session}") if recognise.is_session(session) else ()


ADAPTER = Copilot()
