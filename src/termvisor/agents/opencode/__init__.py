"""opencode, by SST.

It speaks through a plugin of ours that runs inside it and writes to the hooks' spool; nothing is missing there. With
`--port` it also takes answers over HTTP. Without either its screens are known.
"""

from collections.abc import Sequence

from termvisor.agents.base import CONTRACT_VERSION, Capability, Process, Record, Seen, Watch
from termvisor.agents.opencode import look, recognise, signals
from termvisor.model.screen import Screen
from termvisor.model.signal import Signal
from termvisor.model.source import SOURCES


class Opencode:
    name = signals.AGENT
    contract_version = CONTRACT_VERSION
    capabilities: frozenset[Capability] = frozenset(
        {"recognise", "signals", "look", "subtasks", "usage_limit", "compaction", "auth", "answer", "resume"}
    )
    sources = SOURCES[signals.AGENT]
    env_names: tuple[str, ...] = ()

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return recognise.recognise(processes)

    def title_matches(self, title: str) -> bool:
        return title == "OpenCode" or title.startswith("OC | ")

    def watches(self, process: Process) -> Sequence[Watch]:
        return ()

    def read(self, record: Record) -> Sequence[Signal]:
        return signals.read(record)

    def look(self, screen: Screen) -> Seen:
        return look.look(screen)

    def resume_command(self, session: str) -> tuple[str, ...]:
        return ("opencode", "--session", session) if recognise.is_session(session) else ()


ADAPTER = Opencode()
