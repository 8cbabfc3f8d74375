"""A World in memory for tests of operations: panes, lines, events and gaps as plain lists, and a clock that stands
still until it is told to go on.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import msgspec

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS
from termvisor.errors import BadRequest, InvalidCursor
from termvisor.model.action.action import Actor
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EpochId, EventId, MuxPaneId, PaneId, ScreenId, TargetName
from termvisor.model.terminal.command import Command
from termvisor.model.terminal.frame import Frame
from termvisor.model.terminal.output import Delta, Epoch, Gap, GapCause, Line
from termvisor.model.terminal.pane import Activity, PaneFacts, PaneInstance, PaneView, ServerInstance
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.search_query import Found, Hit, Question
from termvisor.settings import Places, Settings
from termvisor.terminal import user_variables as user_vars
from termvisor.testing.accounts import MemoryAccounts
from termvisor.testing.agents import MemoryAgents
from termvisor.testing.commands import MemoryCommands
from termvisor.testing.detections import MemoryDetections
from termvisor.testing.door import MemoryDoor
from termvisor.testing.upkeep import MemoryUpkeep
from termvisor.testing.workflows import MemoryWorkflows

T = TypeVar("T")
NOON = 1_767_268_800 * NS
"""2026-01-01T12:00:00Z, when every test begins."""

NONCE = "5eed5eed"
"""What proves a user variable here."""

SERVER = ServerInstance(TargetName("local"), "/run/tmux/default", 100, 1)


class StillClock:
    """Time passes only by `advance`; who sleeps until then wakes in order."""

    def __init__(self, at: int = NOON):
        self._at, self._started = at, at
        self._sleepers: list[tuple[int, asyncio.Event]] = []
        self._asleep = asyncio.Event()

    def now(self) -> int:
        return self._at

    def monotonic(self) -> float:
        return (self._at - self._started) / NS

    async def sleep(self, seconds: float) -> None:
        sleeper = (self._at + int(seconds * NS), asyncio.Event())
        self._sleepers.append(sleeper)
        self._asleep.set()
        try:
            await sleeper[1].wait()
        finally:
            self._sleepers.remove(sleeper)

    async def until_asleep(self) -> None:
        """Wait until somebody sleeps."""
        while not self._sleepers:
            self._asleep.clear()
            await self._asleep.wait()

    async def advance(self, seconds: float) -> None:
        self._at += int(seconds * NS)
        for until, wake in self._sleepers:
            if until <= self._at:
                wake.set()
        await settled()


async def settled() -> None:
    """Let every task run until it waits for something."""
    for _ in range(20):
        await asyncio.sleep(0)


class MemoryFleet:
    def __init__(self, clock: StillClock):
        self._clock = clock
        self.views: list[PaneView] = []
        self.unfinished: dict[PaneId, str] = {}
        self.screens: dict[PaneId, Screen] = {}
        self.settled = 0

    async def panes(self, *, gone: bool = False) -> list[PaneView]:
        return [view for view in self.views if gone or view.gone_at is None]

    async def pane(self, number: PaneId) -> PaneView | None:
        return next((view for view in self.views if view.id == number), None)

    def pending(self, pane: PaneId) -> str:
        return self.unfinished.get(pane, "")

    async def screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        return self.screens.get(pane) or Screen(pane=pane, rows=("",), width=80, height=24, at=self._clock.now())

    async def settle(self, pane: PaneId | None = None) -> None:
        self.settled += 1


class MemoryHistory:
    def __init__(self) -> None:
        self.stored: list[Line] = []
        self.happened: list[Event] = []
        self.forgotten = 0
        """Events up to this one are no longer kept."""
        self.missing: list[Gap] = []
        self.recording = MemoryRecording()
        self.commands = MemoryCommands()
        self.question: Question | None = None
        self.is_complete = True

    async def lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        low = after if after is not None else -1
        fits = [line for line in self.stored if line.pane == pane and line.number > low]
        fits = [line for line in fits if before is None or line.number < before]
        return fits[:limit] if after is not None else fits[-limit:]

    async def search(self, question: Question) -> Found:
        """Lines that hold every word, newest first."""
        self.question = question
        words = question.text.lower().split()
        rows = [hit for screen in self.recording.shown for hit in _rows(screen)]
        every = sorted([*rows, *(Hit(line=line) for line in self.stored)], key=lambda hit: hit.line.at)
        hits = [
            msgspec.structs.replace(hit, spans=_spans(hit.line.text.lower(), words))
            for hit in reversed(every)
            if question.pane in (None, hit.line.pane) and all(word in hit.line.text.lower() for word in words)
        ]
        return Found(hits=tuple(hits[: question.limit]), is_complete=self.is_complete)

    async def events(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        since: int | None = None,
        kind: str | None = None,
        limit: int = 20,
    ) -> list[Event]:
        if after is not None and not self.forgotten <= after <= len(self.happened):
            raise InvalidCursor(f"no event has cursor {after}", details={"oldest": str(self.forgotten)})
        kept = self.happened[self.forgotten :]
        fits = [event for event in kept if event.id > (after or 0) and pane in (None, event.pane)]
        fits = [event for event in fits if (since is None or event.at >= since) and kind in (None, event.kind)]
        return fits[:limit] if after is not None else fits[-limit:]

    async def gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        fits = [gap for gap in self.missing if pane in (None, gap.pane)]
        return [gap for gap in fits if since is None or (gap.end_at or gap.start_at) >= since]


class MemoryRecording:
    def __init__(self) -> None:
        self.stretches: list[Epoch] = []
        self.heard: list[tuple[PaneId, Delta]] = []
        self.drawn: list[Frame] = []
        self.shown: list[Screen] = []

    async def epochs(self, pane: PaneId) -> list[Epoch]:
        return [epoch for epoch in self.stretches if epoch.pane == pane]

    async def raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        for owner, delta in self.heard:
            if owner == pane and (since is None or delta.at >= since):
                yield delta

    async def frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[Frame, None]:
        for frame in self.drawn:
            if frame.pane == pane and (since or 0) <= frame.at and (until is None or frame.at <= until):
                yield frame

    async def screen_at(self, pane: PaneId, at: int) -> Screen | None:
        fits = [screen for screen in self.shown if screen.pane == pane and screen.at <= at]
        return fits[-1] if fits else None

    async def screen(self, number: ScreenId) -> Screen | None:
        return next((screen for screen in self.shown if screen.id == number), None)


def _rows(screen: Screen) -> Iterator[Hit]:
    """What a search finds on a stored screen."""
    for text in filter(None, screen.rows):
        line = Line(pane=screen.pane, number=0, at=screen.at, text=text, epoch=EpochId(1), source="screen")
        yield Hit(line=line, screen=screen.id, last_at=screen.at)


def _spans(text: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((text.index(word), text.index(word) + len(word)) for word in words))


class MemoryNews:
    """``listeners`` counts those who listen now."""

    def __init__(self, world: "MemoryWorld") -> None:
        self._world = world
        self.is_flooded = False
        self._events: Bus[Event] = Bus()
        self._output: Bus[PaneId] = Bus()
        self.listeners = 0

    def events(self) -> AbstractContextManager[Subscription[Event]]:
        return self._counted(self._events)

    def output(self) -> AbstractContextManager[Subscription[PaneId]]:
        return self._counted(self._output)

    @contextmanager
    def _counted(self, bus: Bus[T]) -> Iterator[Subscription[T]]:
        self.listeners += 1
        try:
            with bus.subscribe() as subscription:
                yield subscription
        finally:
            self.listeners -= 1

    async def report(self, pane: PaneId, name: str, value: str) -> Event | None:
        """As the daemon does; with ``is_flooded`` everything is too much."""
        variable = user_vars.read(name, user_vars.plain(value), NONCE)
        if variable is None:
            raise BadRequest("no user variable of ours")
        event = user_vars.event(pane, self._world.clock.now(), variable, 0, "call")
        return None if self.is_flooded else self._world.record(event)

    def tell(self, event: Event) -> None:
        self._events.publish(event)

    def tell_output(self, pane: PaneId) -> None:
        self._output.publish(pane)


class MemoryWorld:
    """What a test says happens, happens: `pane`, `say`, `begin`, `start`, `finish`, `end`, `happen`, `lose`."""

    def __init__(self, places: Places | None = None, settings: Settings | None = None):
        self.clock = StillClock()
        self.fleet = MemoryFleet(self.clock)
        self.history = MemoryHistory()
        self.detections = MemoryDetections(self.clock, self.record)
        self.news = MemoryNews(self)
        self._places = places or Places("/home/me/.config/termvisor", "/home/me/.local/share/termvisor", "/run/visor")
        self.settings = settings or Settings()
        self.upkeep = MemoryUpkeep(self)
        self.agents = MemoryAgents(self.clock, self.record)
        self.door = MemoryDoor(self.clock)
        self.runs = MemoryWorkflows(self.clock)
        self.accounts = MemoryAccounts(self.clock)

    def called_by(self, actor: Actor) -> "MemoryWorld":
        self.door.actor = actor
        return self

    @property
    def configuration(self) -> tuple[Places, Settings]:
        return self._places, self.settings

    def pane(self, facts: PaneFacts, *, server: ServerInstance = SERVER) -> PaneView:
        """A pane appears."""
        view = PaneView(
            id=PaneId(len(self.fleet.views) + 1),
            instance=PaneInstance(server, facts.mux_id),
            facts=facts,
            heard_by="pipe",
            first_seen_at=self.clock.now(),
        )
        self.fleet.views.append(view)
        return view

    def change(self, pane: PaneId, **changes: object) -> PaneView:
        """Something about a pane is different now."""
        index = next(index for index, view in enumerate(self.fleet.views) if view.id == pane)
        self.fleet.views[index] = msgspec.structs.replace(self.fleet.views[index], **changes)
        return self.fleet.views[index]

    def say(self, pane: PaneId, *texts: str) -> None:
        """The pane prints lines."""
        count = self._lines(pane)
        self.history.stored += [
            Line(pane=pane, number=number, at=self.clock.now(), text=text, epoch=EpochId(1))
            for number, text in enumerate(texts, count + 1)
        ]
        self.change(pane, last_output_at=self.clock.now(), lines=count + len(texts))
        self.news.tell_output(pane)

    def show(self, pane: PaneId, *rows: str) -> Screen:
        """The pane repaints, and what it shows now is stored."""
        number = ScreenId(len(self.history.recording.shown) + 1)
        screen = Screen(
            pane=pane, rows=rows, width=80, height=len(rows), alternate=True, at=self.clock.now(), id=number
        )
        self.history.recording.shown.append(screen)
        self.news.tell_output(pane)
        return screen

    def start(self, pane: PaneId, line: str) -> Command:
        """A shell shows what was typed and runs it."""
        self.say(pane, f"$ {line}")
        self.change(pane, activity=Activity(kind="command", since=self.clock.now(), command_line=line, is_proven=True))
        return self.history.commands.start(pane, line, self.clock.now(), self._lines(pane) + 1)

    def finish(self, pane: PaneId, exit_code: int | None = 0) -> Command:
        """What runs is over; without a status nobody knows how."""
        self.change(pane, activity=Activity(kind="prompt", since=self.clock.now(), last_exit=exit_code, is_proven=True))
        ended = self.history.commands.end(pane, exit_code, self.clock.now(), self._lines(pane))
        self.news.tell_output(pane)
        return ended

    def _lines(self, pane: PaneId) -> int:
        return sum(line.pane == pane for line in self.history.stored)

    def begin(self, pane: PaneId, text: str) -> None:
        """The pane prints the start of a line."""
        self.fleet.unfinished[pane] = text
        self.change(pane, last_output_at=self.clock.now())
        self.news.tell_output(pane)

    def print_bytes(self, pane: PaneId, data: bytes, epoch: int = 1) -> None:
        start = sum(
            len(delta.data) for owner, delta in self.history.recording.heard if (owner, delta.epoch) == (pane, epoch)
        )
        self.history.recording.heard.append((pane, Delta(EpochId(epoch), start, data, self.clock.now())))

    def happen(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> Event:
        return self.record(Event(at=self.clock.now(), kind=kind, pane=pane, data=data))

    def record(self, event: Event) -> Event:
        stored = msgspec.structs.replace(event, id=EventId(len(self.history.happened) + 1))
        self.history.happened.append(stored)
        self.news.tell(stored)
        return stored

    def end(self, pane: PaneId) -> None:
        """The pane goes away."""
        self.change(pane, gone_at=self.clock.now())
        self.happen("pane_gone", pane)

    def lose(self, pane: PaneId, cause: GapCause, seconds: float | None) -> Gap:
        """Some output could not be captured."""
        start = self.clock.now()
        end = None if seconds is None else start + int(seconds * NS)
        gap = Gap(id=len(self.history.missing) + 1, pane=pane, cause=cause, start_at=start, end_at=end)
        self.history.missing.append(gap)
        view = self.change(pane, gaps=sum(known.pane == pane for known in self.history.missing))
        self.happen("gap_recorded", view.id, cause=cause)
        return gap


def shell(mux_id: str = "%1", session: str = "work", window: int = 1, **facts: object) -> PaneFacts:
    """Facts of a pane with a shell in it."""
    known: dict[str, object] = {
        "pid": 1000,
        "session_id": "$1",
        "window_id": f"@{window}",
        "window_name": "main",
        "command": "bash",
        "cwd": "/home/me/project",
        "title": "bash",
        "width": 120,
        "height": 40,
        "history_limit": 50_000,
    }
    known |= {"mux_id": MuxPaneId(mux_id), "session_name": session, "window_index": window}
    return msgspec.convert(known | facts, PaneFacts)
