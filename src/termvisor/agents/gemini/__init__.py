"""Gemini CLI, by Google.

It speaks in hooks, which leave holes: a refusal, the dialog of a usage limit and the end of a compression are told by
none. Its title has a sign for each state and is there without any set-up, as are notifications where they are switched
on. Its session files name no process, and several run in one folder, so they are not read.
"""

from collections.abc import Sequence

from termvisor.agents.base import CONTRACT_VERSION, Capability, Process, Record, Seen, Watch
from termvisor.agents.gemini import look, recognise, signals
from termvisor.model.screen import Screen
from termvisor.model.signal import Signal
from termvisor.model.source import SOURCES


class Gemini:
    name = signals.AGENT
    contract_version = CONTRACT_VERSION
    capabilities: frozenset[Capability] = frozenset(
        {"recognise", "signals", "look", "usage_limit", "compaction", "auth", "resume"}
    )
    sources = SOURCES[signals.AGENT]
    env_names: tuple[str, ...] = ()

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return recognise.recognise(processes)

    def title_matches(self, title: str) -> bool:
        return signals.title_matches(title)

    def watches(self, process: Process) -> Sequence[Watch]:
        return ()

    def read(self, record: Record) -> Sequence[Signal]:
        return signals.read(record)

    def look(self, screen: Screen) -> Seen:
        return look.look(screen)

    def resume_command(self, session: str) -> tuple[str, ...]:
        """In the folder in which the session began; elsewhere it is not found."""
        return ("gemini", "--resume", session) if recognise.is_session(session) else ()


ADAPTER = Gemini()
