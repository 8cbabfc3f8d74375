"""Cursor CLI (`cursor-agent`, also started as `agent`), by Anysphere.

Written from what its makers document; not yet tried on the real program. Its hooks are told to the spool; an approval
that a person is asked for in the terminal has no hook of its own, so that is seen on the screen only.
"""

from collections.abc import Sequence

from termvisor.agents.base import CONTRACT_VERSION, Capability, Process, Record, Seen, Watch
from termvisor.agents.cursor import look, recognise, signals
from termvisor.model.screen import Screen
from termvisor.model.signal import Signal
from termvisor.model.source import SOURCES


class Cursor:
    name = signals.AGENT
    contract_version = CONTRACT_VERSION
    capabilities: frozenset[Capability] = frozenset(
        {"recognise", "signals", "look", "subtasks", "compaction", "answer", "resume"}
    )
    sources = SOURCES[signals.AGENT]
    env_names: tuple[str, ...] = ()

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return recognise.recognise(processes)

    def title_matches(self, title: str) -> bool:
        return title.startswith("Cursor Agent")

    def watches(self, process: Process) -> Sequence[Watch]:
        return ()

    def read(self, record: Record) -> Sequence[Signal]:
        return signals.read(record)

    def look(self, screen: Screen) -> Seen:
        return look.look(screen)

    def resume_command(self, session: str) -> tuple[str, ...]:
        return ("cursor-agent", f"--resume={session}") if recognise.is_session(session) else ()


ADAPTER = Cursor()
