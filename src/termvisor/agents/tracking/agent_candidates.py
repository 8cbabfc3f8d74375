"""Choose the agent of a pane whose processes may belong to several agents. Pure.

The agent in the foreground wins; if none is, the current one; else the outermost, since an agent started by another
agent is a tool of it.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo

ProcessRecognizer = Callable[[str, Sequence[ProcessInfo]], ProcessInfo | None]


class AgentCandidate(Struct, frozen=True):
    agent: str
    process: ProcessInfo
    is_foreground: bool = False

    @property
    def process_key(self) -> tuple[int, int]:
        return self.process.pid, self.process.pid_started


def find_candidates(
    agents: Iterable[str], tree: Sequence[ProcessInfo], foreground_pids: frozenset[int], recognise: ProcessRecognizer
) -> list[AgentCandidate]:
    """Return every identified agent, outermost first; a process claimed by two adapters goes to the first."""
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
    """Choose one; ``current_process_key`` is the pid and start time of the pane's agent until now."""
    return min(
        candidates, key=lambda one: (not one.is_foreground, one.process_key != current_process_key), default=None
    )
