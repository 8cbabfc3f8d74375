"""Find the agents among the processes of a pane (`AgentCandidate`), and choose the one that the pane shows."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import Adapter, ProcessInfo
from termvisor.agents.sources.process_scanner import ProcessRecognizer


class AgentCandidate(Struct, frozen=True):
    agent: str
    process: ProcessInfo
    is_foreground: bool = False

    @property
    def process_key(self) -> tuple[int, int]:
        return self.process.pid, self.process.pid_started


class RecognizedTree(Struct, frozen=True):
    """The processes of a pane, and the agents that these adapters found among them."""

    adapters: Mapping[str, Adapter]
    tree: Sequence[ProcessInfo]
    foreground_pids: frozenset[int]
    candidates: list[AgentCandidate]


def is_readable(tree: Sequence[ProcessInfo], process_key: tuple[int, int]) -> bool:
    """Return False if the process runs, but its command line could not be read: it called exec in that moment."""
    return all(one.argv for one in tree if (one.pid, one.pid_started) == process_key)


def find_candidates(
    agents: Iterable[str], tree: Sequence[ProcessInfo], foreground_pids: frozenset[int], recognise: ProcessRecognizer
) -> list[AgentCandidate]:
    """Return every identified agent, outermost first. A process claimed by two adapters goes to the first."""
    foreground = [process for process in tree if process.pid in foreground_pids]
    found: dict[int, AgentCandidate] = {}
    for agent in agents:
        first = recognise(agent, foreground) if foreground else None
        process = first or (recognise(agent, tree) if len(foreground) < len(tree) else None)
        if process is not None:
            found.setdefault(process.pid, AgentCandidate(agent, process, first is not None))
    order = {process.pid: place for place, process in enumerate(tree)}
    return sorted(found.values(), key=lambda one: order.get(one.process.pid, len(order)))


def choose_candidate(
    candidates: Sequence[AgentCandidate], current_process_key: tuple[int, int] | None
) -> AgentCandidate | None:
    """Choose the pane's agent; ``current_process_key`` is the pid and start time of its agent until now."""
    return min(
        candidates, key=lambda one: (not one.is_foreground, one.process_key != current_process_key), default=None
    )
