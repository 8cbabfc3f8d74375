"""Everything that is heard and seen of agents becomes signals, read by the agent's adapter.

What comes in: records of files, hooks and servers; marks of the stream; looks at screens. What goes out: signals, to
be stored. Marks and looks are of the agent that lives in the pane; all else says itself whom it is about.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Process, Record, Seen, Watch
from termvisor.agents.adapters.tool_finished import tool_end
from termvisor.agents.state import titles
from termvisor.agents.state.signal_binding import is_by_folder
from termvisor.agents.tracking import screen_signal as glance
from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.record_owner import Watched, origin
from termvisor.agents.tracking.screen_signal import Glance
from termvisor.agents.tracking.sessions import BY_ARGV
from termvisor.agents.tracking.tracker import Knowing
from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.signal import Hint, Signal
from termvisor.model.agent.tool_finished import ToolEnd
from termvisor.model.ids import EpochId, PaneId, RuntimeId
from termvisor.model.terminal.mark import Mark, MarkKind
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.screen import Screen

MARKS: dict[MarkKind, str] = {
    "agent": "osc",
    "title": "title",
    "notification": "notification",
    "progress": "progress",
    "bell": "bell",
}
"""The marks that agents speak in, and the source that each of them is."""
_EARLY = 16
_EARLY_FOR = 10 * NS
"""A mark may come before its program is recognised; so many of a pane are kept for so long."""


Count = Callable[[str, str], Awaitable[int]]
"""How many of an agent work in a folder, anywhere on this machine."""


class Watching(Protocol):
    """Who reads what agents leave on disk."""

    def watch(self, key: RuntimeId, watches: Sequence[Watch], agent: str = "") -> None: ...

    def unwatch(self, key: RuntimeId) -> None: ...


class Hearing:
    def __init__(self, knowing: Knowing, circle: Circle, clock: Clock):
        self._knowing, self._circle, self._clock = knowing, circle, clock
        self.watching: Watching | None = None
        self.scribe: Callable[[list[tuple[str, Record]]], Awaitable[None]] | None = None
        self.moved_at: Callable[[PaneId], int | None] = lambda pane: None
        self.count: Count | None = None
        self._watched: dict[RuntimeId, list[Watched]] = {}
        self._titles: dict[RuntimeId, str] = {}
        self._early: dict[PaneId, deque[tuple[EpochId, int, Mark]]] = {}
        self._glances: dict[RuntimeId, Glance] = {}
        self.tool_ends: Bus[ToolEnd] = Bus()
        self.unclaimed = 0
        """Records that no adapter could be named for."""

    async def records(self, records: Sequence[Record]) -> None:
        """Returns when what they say is stored."""
        watched = [one for several in self._watched.values() for one in several]
        heard: list[tuple[str, Record]] = []
        for record in records:
            living = self._knowing.living.values()
            agent = origin(record, self._circle.speaking(record.source), watched, living)
            self.unclaimed += not agent
            heard.append((agent, record))
            number = (record.source, (record.life, record.seq)) if record.seq is not None else None
            signals = [await self._doubted(one) for one in self._circle.read(agent, record)]
            while not self._knowing.take(signals, reached=record.bookmark or number):
                await self._knowing.stored()
        await self._knowing.stored()
        for _, record in heard:
            if (end := tool_end(record)) is not None:
                self.tool_ends.publish(end)
        if self.scribe is not None:  # whose a session is, is known by now
            await self.scribe(heard)

    async def _doubted(self, signal: Signal) -> Signal:
        """One that tells no more than a folder proves nothing where several of the agent work, in panes or not."""
        hint, roster = signal.hint, self._knowing.standing.knowledge.roster
        if self.count is None or signal.runtime is not None or not is_by_folder(hint) or hint.is_doubtful:
            return signal
        is_known = any(signal.session in tenant.sessions for tenant in roster.tenants.values())
        if is_known or await self.count(signal.agent, hint.cwd) < 2:
            return signal
        return replace(signal, hint=replace(hint, is_doubtful=True))

    def marks(self, epoch: Epoch, said: Sequence[tuple[int, Mark]]) -> None:
        """What a pane printed, in order. Called for panes of all kinds, so it does little for most."""
        runtime = self._knowing.runtime_in(epoch.pane)
        if runtime is not None:
            for at, mark in said:
                self._hear(runtime, epoch.id, at, mark)
        elif own := [(epoch.id, at, mark) for at, mark in said if mark.kind == "agent"]:
            self._early.setdefault(epoch.pane, deque(maxlen=_EARLY)).extend(own)

    def look(self, screen: Screen, pause: int) -> None:
        """What a pane shows; the next look comes after ``pause``."""
        runtime = self._knowing.runtime_in(screen.pane)
        if runtime is None:
            return
        last = self._glances.get(runtime.id)
        is_same = last is not None and last.rows == screen.rows
        seen = last.seen if is_same and last is not None else self._seen(runtime, screen)
        if seen is None:
            return
        now = Glance(rows=screen.rows, seen=seen, at=screen.at, told_at=last.told_at if last is not None else 0)
        if glance.is_news(last, now, pause):
            now.told_at = screen.at
            self._knowing.take([glance.signal(runtime, now, self.moved_at(screen.pane))])
        self._glances[runtime.id] = now

    def _seen(self, runtime: Runtime, screen: Screen) -> Seen | None:
        session = self._knowing.session(runtime.id)
        return self._circle.look(runtime.agent, screen, session.version if session is not None else "")

    def seen_in(self, runtime: Runtime) -> str:
        """The agent that its screen names; one of which no process is known is there because its screen said so."""
        last = self._glances.get(runtime.id)
        is_known = last is not None and bool(last.seen.rule) and last.seen.state != "unknown"
        return runtime.agent if is_known or not runtime.pid else ""

    def follow(self, runtime: Runtime, process: Process) -> None:
        """An agent lives: its files are read, and what it printed before it was recognised counts."""
        watches = self._circle.watches(runtime.agent, process)
        self._watched[runtime.id] = [Watched(runtime.agent, watch) for watch in watches]
        if self.watching is not None and watches:
            self.watching.watch(runtime.id, watches, runtime.agent)
        self._take_up(runtime, process)
        oldest = max(runtime.started_at, self._clock.now() - _EARLY_FOR)
        for epoch, at, mark in self._early.pop(runtime.pane, ()):
            if at >= oldest:
                self._hear(runtime, epoch, at, mark)

    def _take_up(self, runtime: Runtime, process: Process) -> None:
        """The session that its command line names is its own until it names another itself."""
        going_on = self._knowing.session(runtime.id)
        if going_on is None or going_on.external_id:
            return
        if name := self._circle.session(runtime.agent, process):
            self._knowing.take([_taken_up(runtime, name, self._clock.now())])

    def leave(self, runtime: Runtime) -> None:
        if self._watched.pop(runtime.id, None) and self.watching is not None:
            self.watching.unwatch(runtime.id)
        self._titles.pop(runtime.id, None)
        self._glances.pop(runtime.id, None)

    def _hear(self, runtime: Runtime, epoch: EpochId, at: int, mark: Mark) -> None:
        source = MARKS[mark.kind]
        if at < runtime.started_at or not self._circle.speaks(runtime.agent, source):
            return
        text = mark.text or ":".join(f"{name}={value}" for name, value in mark.params.items())
        if source == "title" and not self._is_new_title(runtime, text):
            return
        record = Record(source=source, text=text, at=at, hint=hint_of(runtime), event_id=f"{epoch}@{mark.offset}")
        signals = self._circle.read(runtime.agent, record) or _noted(runtime, record)
        self._knowing.take(replace(one, runtime=runtime.id) for one in signals)

    def _is_new_title(self, runtime: Runtime, text: str) -> bool:
        """Spinners turn in titles; the words behind them matter."""
        words = titles.clean(text)
        is_new = self._titles.get(runtime.id) != words
        self._titles[runtime.id] = words
        return is_new


def hint_of(runtime: Runtime) -> Hint:
    place = runtime.place
    return Hint(
        target=place.target,
        socket=place.socket,
        mux_pane=place.mux_pane,
        pid=runtime.pid,
        pid_started=runtime.pid_started,
    )


def _taken_up(runtime: Runtime, session: str, at: int) -> Signal:
    return Signal(
        source=BY_ARGV,
        tier="heuristic",
        agent=runtime.agent,
        runtime=runtime.id,
        session=session,
        event_at=at,
        ingested_at=at,
        dedupe_key=f"argv {runtime.pid}@{runtime.pid_started}",
        kind="note",
    )


def _noted(runtime: Runtime, record: Record) -> list[Signal]:
    """A title of which the adapter makes nothing is still what the pane is called."""
    if record.source != "title":
        return []
    note = Signal(
        source="title",
        tier="heuristic",
        agent=runtime.agent,
        event_at=record.at,
        ingested_at=record.at,
        dedupe_key=record.event_id,
        kind="note",
        title=record.text,
    )
    return [note]
