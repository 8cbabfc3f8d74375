"""A World in memory for tests of operations: panes, lines, events and gaps as plain lists, and a clock that stands
still until it is told to go on.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import msgspec

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS
from termvisor.errors import InvalidCursor
from termvisor.model.event import Event, Scalar
from termvisor.model.health import Health, ProcessCost, ServerHealth
from termvisor.model.ids import EpochId, EventId, MuxPaneId, PaneId, TargetName
from termvisor.model.output import Delta, Epoch, Gap, GapCause, Line
from termvisor.model.pane import PaneFacts, PaneInstance, PaneView, ServerInstance
from termvisor.model.question import Found, Hit, Question
from termvisor.model.screen import Screen
from termvisor.settings import Places, Settings

T = TypeVar("T")
NOON = 1_767_268_800 * NS
"""2026-01-01T12:00:00Z, when every test begins."""

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

    def pending(self, pane: PaneId) -> str:
        return self.unfinished.get(pane, "")

    async def screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        return self.screens.get(pane) or Screen(pane=pane, rows=("",), width=80, height=24, at=self._clock.now())

    async def settle(self) -> None:
        self.settled += 1


class MemoryHistory:
    def __init__(self) -> None:
        self.stored: list[Line] = []
        self.happened: list[Event] = []
        self.missing: list[Gap] = []
        self.stretches: list[Epoch] = []
        self.heard: list[tuple[PaneId, Delta]] = []
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
        hits = [
            Hit(line=line, spans=_spans(line.text.lower(), words))
            for line in reversed(self.stored)
            if question.pane in (None, line.pane) and all(word in line.text.lower() for word in words)
        ]
        return Found(hits=tuple(hits[: question.limit]), is_complete=self.is_complete)

    async def events(
        self, *, after: int | None = None, pane: PaneId | None = None, since: int | None = None, limit: int = 20
    ) -> list[Event]:
        if after is not None and after > len(self.happened):
            raise InvalidCursor(f"no event has cursor {after}", details={"oldest": "0"})
        fits = [event for event in self.happened if event.id > (after or 0) and pane in (None, event.pane)]
        fits = [event for event in fits if since is None or event.at >= since]
        return fits[:limit] if after is not None else fits[-limit:]

    async def gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        fits = [gap for gap in self.missing if pane in (None, gap.pane)]
        return [gap for gap in fits if since is None or (gap.end_at or gap.start_at) >= since]

    async def epochs(self, pane: PaneId) -> list[Epoch]:
        return [epoch for epoch in self.stretches if epoch.pane == pane]

    async def raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        for owner, delta in self.heard:
            if owner == pane and (since is None or delta.at >= since):
                yield delta


def _spans(text: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((text.index(word), text.index(word) + len(word)) for word in words))


class MemoryNews:
    """``listeners`` counts those who listen now."""

    def __init__(self) -> None:
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

    def tell(self, event: Event) -> None:
        self._events.publish(event)

    def tell_output(self, pane: PaneId) -> None:
        self._output.publish(pane)


class MemoryWorld:
    """What a test says happens, happens: `pane`, `say`, `begin`, `end`, `happen`, `lose`."""

    def __init__(self, places: Places | None = None, settings: Settings | None = None):
        self.clock = StillClock()
        self.fleet = MemoryFleet(self.clock)
        self.history = MemoryHistory()
        self.news = MemoryNews()
        self._places = places or Places("/home/me/.config/termvisor", "/home/me/.local/share/termvisor", "/run/visor")
        self._settings = settings or Settings()
        self.is_recording = True

    @property
    def configuration(self) -> tuple[Places, Settings]:
        return self._places, self._settings

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
        count = sum(line.pane == pane for line in self.history.stored)
        self.history.stored += [
            Line(pane=pane, number=number, at=self.clock.now(), text=text, epoch=EpochId(1))
            for number, text in enumerate(texts, count + 1)
        ]
        self.change(pane, last_output_at=self.clock.now(), lines=count + len(texts))
        self.news.tell_output(pane)

    def begin(self, pane: PaneId, text: str) -> None:
        """The pane prints the start of a line."""
        self.fleet.unfinished[pane] = text
        self.change(pane, last_output_at=self.clock.now())
        self.news.tell_output(pane)

    def print_bytes(self, pane: PaneId, data: bytes, epoch: int = 1) -> None:
        start = sum(len(delta.data) for owner, delta in self.history.heard if (owner, delta.epoch) == (pane, epoch))
        self.history.heard.append((pane, Delta(EpochId(epoch), start, data, self.clock.now())))

    def happen(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> Event:
        event = Event(id=EventId(len(self.history.happened) + 1), at=self.clock.now(), kind=kind, pane=pane, data=data)
        self.history.happened.append(event)
        self.news.tell(event)
        return event

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

    async def health(self) -> Health:
        panes = await self.fleet.panes()
        server = ServerHealth(target="local", socket=SERVER.socket, mux_ok=True, client="control", panes=len(panes))
        return Health(
            version="0.1.0",
            started_at=self.clock.now() - 3600 * NS,
            servers=(server,),
            panes_tracked=len(panes),
            ingest_lag_max=0.031,
            ingest_lag_avg=0.008,
            ingest_backlog_bytes=0,
            queue_depth=0,
            db_writable=True,
            db_bytes=12_400_000,
            wal_pages=12,
            raw_bytes=340_000_000,
            gaps=len(self.history.missing),
            restarts={},
            corrections=0,
            forks=7,
            daemon=ProcessCost(pid=4242, rss_bytes=41_000_000, cpu_seconds=12.5, cpu_percent=0.7),
            recorder=ProcessCost(pid=4243, rss_bytes=9_400_000, cpu_seconds=1.5, cpu_percent=0.1)
            if self.is_recording
            else None,
        )


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
