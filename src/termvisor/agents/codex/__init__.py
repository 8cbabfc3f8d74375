"""Codex: what is known of it, and where it speaks.

It prints its state into its own pane; a server that all of its panes share tells every change of every thread; hooks,
a notify program and the rollout file tell of threads only. See `threads` for how a thread's pane is proven.
"""

from collections.abc import Sequence

from termvisor.agents.base import Capability, Process, Record, Seen, Watch
from termvisor.agents.codex import look, recognise, rollout, signals
from termvisor.model.screen import Screen
from termvisor.model.signal import Signal
from termvisor.model.source import SOURCES


class Codex:
    name = "codex"
    contract_version = (1, 0)
    capabilities: frozenset[Capability] = frozenset(
        {"recognise", "signals", "look", "subtasks", "usage_limit", "compaction", "auth", "answer", "resume"}
    )
    sources = SOURCES["codex"]
    env_names = ("HOME", "CODEX_HOME")

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return recognise.recognise(processes)

    def title_matches(self, title: str) -> bool:
        return signals.title_matches(title)

    def watches(self, process: Process) -> Sequence[Watch]:
        return rollout.watches(process)

    def read(self, record: Record) -> Sequence[Signal]:
        return signals.read(record)

    def look(self, screen: Screen) -> Seen:
        return look.look(screen)

    def resume_command(self, session: str) -> tuple[str, ...]:
        return ("codex", "resume", session) if recognise.is_thread(session) else ()


ADAPTER = Codex()
