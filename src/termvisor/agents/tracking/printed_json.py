"""Turn JSON lines that an agent prints for other programs (`codex exec --json`) into signals.

In: JSON lines of panes. Out: signals. Any program can print such a line, so it counts only while the agent's process is
in the foreground and was started to print JSON. It is ignored if its session is not the first line's, or after the
line that ended the turn, because such a run has a single turn.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.signal_reader import build_hint
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.clock import NS, Clock
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.evidence import PRINTED_SOURCE
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.model.terminal.output import Epoch
from termvisor.pipeline.json_lines import PrintedLine

_MAX_EARLY_LINES = 32
_MAX_EARLY_PANES = 32
# The first lines arrive before the agent is identified, so this many are buffered per pane, for this long.
_MAX_EARLY_AGE_NS = 10 * NS
_MAX_EARLY_LINE_CHARS = 1024
# The precision of a process start time (10 ms). No such program prints its first line sooner.
_START_TIME_PRECISION_NS = NS // 100


class _PrintedRun(Struct):
    """The progress of one run."""

    session: str = ""
    has_terminal: bool = False
    """As last checked while the process was alive."""
    is_over: bool = False

    def accept_signal(self, signal: Signal) -> bool:
        if self.is_over or (signal.session and self.session not in ("", signal.session)):
            return False
        self.session = self.session or signal.session
        self.is_over = signal.state in ("completed", "error")
        return True


class PrintedJsonReader:
    def __init__(self, tracker: AgentTracker, registry: AdapterRegistry, clock: Clock):
        self._tracker, self._registry, self._clock = tracker, registry, clock
        self.has_terminal: Callable[[AgentProcess], bool | None] = lambda runtime: False
        """Return True if the process prints in the foreground of its pane; None if it has exited."""
        self._runs_by_agent: dict[RuntimeId, _PrintedRun] = {}
        self._early_lines: dict[PaneId, deque[tuple[EpochId, PrintedLine]]] = {}

    def read_lines(self, epoch: Epoch, lines: Sequence[PrintedLine]) -> None:
        """Read the JSON lines that a pane printed, in order."""
        agent_process = self._tracker.find_agent_in_pane(epoch.pane)
        if agent_process is None:
            self._buffer_lines(epoch, lines)
        elif agent_process.id in self._runs_by_agent:
            self._submit_signals(
                agent_process, self._runs_by_agent[agent_process.id], ((epoch.id, line) for line in lines)
            )

    def follow(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        """Follow an agent that prints JSON, and read the lines that it printed before it was identified."""
        early = self._early_lines.pop(agent_process.pane, ())
        if agent_process.id in self._runs_by_agent or not self._registry.is_printing_json(agent_process.agent, process):
            return
        run = self._runs_by_agent[agent_process.id] = _PrintedRun(session=self._find_known_session(agent_process))
        oldest = self._clock.now() - _MAX_EARLY_AGE_NS
        self._submit_signals(agent_process, run, (line for line in early if line[1].at >= oldest))

    def leave(self, agent_process: AgentProcess) -> None:
        self._runs_by_agent.pop(agent_process.id, None)

    def has_unread_end(self, agent_process: AgentProcess) -> bool:
        """Return True if a run that printed in its pane did not yet print the line that ends its turn."""
        run = self._runs_by_agent.get(agent_process.id)
        return run is not None and run.has_terminal and not run.is_over

    def _buffer_lines(self, epoch: Epoch, lines: Sequence[PrintedLine]) -> None:
        buffer = self._early_lines.pop(epoch.pane, None) or deque(maxlen=_MAX_EARLY_LINES)
        buffer.extend((epoch.id, line) for line in lines if len(line.text) <= _MAX_EARLY_LINE_CHARS)
        self._early_lines[epoch.pane] = buffer
        if len(self._early_lines) > _MAX_EARLY_PANES:
            self._early_lines.pop(next(iter(self._early_lines)))

    def _find_known_session(self, agent_process: AgentProcess) -> str:
        """Return the session that the agent reported to an earlier daemon, but not one from its command line."""
        session = self._tracker.get_session(agent_process.id)
        is_presumed = agent_process.id in self._tracker.state.sessions.presumed
        return session.external_id if session is not None and not is_presumed else ""

    def _submit_signals(
        self, agent_process: AgentProcess, printed_run: _PrintedRun, lines: Iterable[tuple[EpochId, PrintedLine]]
    ) -> None:
        has_terminal = self.has_terminal(agent_process)
        # None means that the process has exited; its last lines are read with the previous value.
        if has_terminal is not None:
            printed_run.has_terminal = has_terminal
        if not printed_run.has_terminal:
            return
        hint = build_hint(agent_process)
        for epoch, line in lines:
            if line.at >= agent_process.started_at + _START_TIME_PRECISION_NS:
                record = SourceRecord(
                    source=PRINTED_SOURCE.name, text=line.text, at=line.at, hint=hint, event_id=f"{epoch}@{line.end}"
                )
                signals = self._registry.read_record(agent_process.agent, record)
                self._tracker.submit_facts(
                    [
                        replace(one, runtime=agent_process.id, session=printed_run.session)
                        for one in signals
                        if printed_run.accept_signal(one)
                    ]
                )
