"""Which agent a pane has, where its processes may be those of several. Pure.

The one that has the terminal; while none has it, the one that had it before; else the outermost, since an agent that
another one started is a tool of it.
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
    """Every agent that is recognised, the outermost first; a process that two claim is the first one's.

    ``front`` are the processes that have the terminal.
    """
    ahead = [process for process in tree if process.pid in foreground_pids]
    found: dict[int, AgentCandidate] = {}
    for agent in agents:
        first = recognise(agent, ahead) if ahead else None
        process = first or (recognise(agent, tree) if len(ahead) < len(tree) else None)
        if process is not None:
            found.setdefault(process.pid, AgentCandidate(agent, process, first is not None))
    order = {process.pid: place for place, process in enumerate(tree)}
    return sorted(found.values(), key=lambda one: order.get(one.process.pid, len(order)))


def choose_candidate(
    candidates: Sequence[AgentCandidate], current_process_key: tuple[int, int] | None
) -> AgentCandidate | None:
    """``current`` is the pid and start of the one that the pane had until now."""
    return min(
        candidates, key=lambda one: (not one.is_foreground, one.process_key != current_process_key), default=None
    )
