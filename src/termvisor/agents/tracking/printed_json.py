"""Lines that an agent prints for programs to read, such as those of `codex exec --json`, become signals.

What comes in: lines of panes that look like it. What goes out: signals. Anybody can print such a line, so it counts
only while the agent's own process has the terminal of the pane and was started to print them; never if it is of another
session than the first that was named; and never after the one that ended its turn: a run like this has one turn.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Process, Record
from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.signal_reader import hint_of
from termvisor.agents.tracking.tracker import Knowing
from termvisor.clock import NS, Clock
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.evidence_source import PRINTED
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.model.terminal.output import Epoch
from termvisor.pipeline.json_lines import Printed

_EARLY = 32
_EARLY_PANES = 32
_EARLY_FOR = 10 * NS
"""Its first lines come before it is recognised; so many are kept of so many panes for so long."""
_LONGEST_EARLY = 1024
_START_KNOWN_WITHIN = NS // 100
"""The kernel tells a start only so exactly. No such program says its first word sooner."""


class _Course(Struct):
    """How far one run has come."""

    session: str = ""
    has_terminal: bool = False
    """As it was when that could last be seen."""
    is_over: bool = False

    def admits(self, signal: Signal) -> bool:
        if self.is_over or (signal.session and self.session not in ("", signal.session)):
            return False
        self.session = self.session or signal.session
        self.is_over = signal.state in ("completed", "error")
        return True


class Printing:
    def __init__(self, knowing: Knowing, circle: Circle, clock: Clock):
        self._knowing, self._circle, self._clock = knowing, circle, clock
        self.has_terminal: Callable[[Runtime], bool | None] = lambda runtime: False
        """Whether its process has the terminal of its pane and prints there; None when it lives no more."""
        self._courses: dict[RuntimeId, _Course] = {}
        self._early: dict[PaneId, deque[tuple[EpochId, Printed]]] = {}

    def lines(self, epoch: Epoch, lines: Sequence[Printed]) -> None:
        """What a pane printed, in order."""
        runtime = self._knowing.runtime_in(epoch.pane)
        if runtime is None:
            self._keep(epoch, lines)
        elif runtime.id in self._courses:
            self._hear(runtime, self._courses[runtime.id], ((epoch.id, line) for line in lines))

    def follow(self, runtime: Runtime, process: Process) -> None:
        """An agent lives: if it prints for programs, what it printed before it was recognised counts."""
        early = self._early.pop(runtime.pane, ())
        if runtime.id in self._courses or not self._circle.prints(runtime.agent, process):
            return
        course = self._courses[runtime.id] = _Course(session=self._told_before(runtime))
        oldest = self._clock.now() - _EARLY_FOR
        self._hear(runtime, course, (one for one in early if one[1].at >= oldest))

    def leave(self, runtime: Runtime) -> None:
        self._courses.pop(runtime.id, None)

    def _keep(self, epoch: Epoch, lines: Sequence[Printed]) -> None:
        kept = self._early.pop(epoch.pane, None) or deque(maxlen=_EARLY)
        kept.extend((epoch.id, line) for line in lines if len(line.text) <= _LONGEST_EARLY)
        self._early[epoch.pane] = kept
        if len(self._early) > _EARLY_PANES:
            self._early.pop(next(iter(self._early)))

    def _told_before(self, runtime: Runtime) -> str:
        """The session that it named to an earlier daemon; not one that only its command line named."""
        session = self._knowing.session(runtime.id)
        is_presumed = runtime.id in self._knowing.standing.story.presumed
        return session.external_id if session is not None and not is_presumed else ""

    def _hear(self, runtime: Runtime, course: _Course, lines: Iterable[tuple[EpochId, Printed]]) -> None:
        found = self.has_terminal(runtime)
        course.has_terminal = course.has_terminal if found is None else found
        if not course.has_terminal:
            return
        for epoch, line in lines:
            if line.at >= runtime.started_at + _START_KNOWN_WITHIN:
                signals = self._circle.read(runtime.agent, _record(runtime, epoch, line))
                self._knowing.take(
                    [replace(one, runtime=runtime.id, session=course.session) for one in signals if course.admits(one)]
                )


def _record(runtime: Runtime, epoch: EpochId, line: Printed) -> Record:
    hint = hint_of(runtime)
    return Record(source=PRINTED.name, text=line.text, at=line.at, hint=hint, event_id=f"{epoch}@{line.end}")
