"""Takes looks at panes that repaint, each through the one control client of its server; never starts a program.

What comes in: stirs, from who reads the stream. What goes out: looks, to who makes sightings of them.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from termvisor.backends.pane_source import Capture
from termvisor.capture.output_rate import Meter
from termvisor.capture.sampling_schedule import Pace, Stir
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.log import logger
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.screen_row import Life

_TOGETHER = 0.02
"""Looks that are due within so many seconds are taken in one go."""

log = logger("eyes")


class Shown(Protocol):
    """A server whose panes can be looked at."""

    async def looks(self, panes: Sequence[MuxPaneId]) -> list[Capture | None]: ...


class Look(Struct, frozen=True):
    """What a pane showed at an instant, raw, in this life of its screen."""

    life: Life
    seen: Capture
    at: int


Place = Callable[[PaneId], tuple[Shown, MuxPaneId] | None]
"""Where a pane is, None while nobody knows."""
Take = Callable[[list[Look]], Awaitable[None]]


class Eyes:
    def __init__(self, clock: Clock, place: Place, take: Take):
        self._clock, self._place, self._take = clock, place, take
        self._paces: dict[PaneId, Pace] = {}
        self._wake = asyncio.Event()
        self._sleeps_until = 0.0
        self._busy: set[int] = set()
        """Servers that have not answered yet, or whose last looks are still being stored."""
        self.meter = Meter()
        """Counts looks: what they cost is ours to show."""

    def stirred(self, stir: Stir) -> None:
        """A pane printed something. Called for every piece of output, so it does little."""
        pace = self._paces.get(stir.pane)
        if stir.life is None:
            if pace is not None and pace.life.epoch == stir.epoch:
                del self._paces[stir.pane]
            return
        if pace is None:
            pace = self._paces[stir.pane] = Pace(stir.life)
        pace.life = stir.life
        pace.stir(stir, self._clock.monotonic())
        due = pace.due_at
        if due is not None and due < self._sleeps_until:
            self._wake.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                await self._wait()
                for server, lives in self._due():
                    group.create_task(self._look(server, lives))

    async def _wait(self) -> None:
        due = min((at for pace in self._paces.values() if (at := pace.due_at) is not None), default=None)
        self._sleeps_until = float("inf") if due is None else due
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if due is None else max(0.0, due - self._clock.monotonic())):
                await self._wake.wait()
        self._sleeps_until = 0.0

    def _due(self) -> list[tuple[Shown, dict[MuxPaneId, Life]]]:
        """Whom to look at now, by server."""
        now = self._clock.monotonic()
        found: dict[int, tuple[Shown, dict[MuxPaneId, Life]]] = {}
        for pane, pace in self._paces.items():
            if (due := pace.due_at) is None or due > now + _TOGETHER:
                continue
            pace.look(now)
            place = self._place(pane)
            if place is None or id(place[0]) in self._busy:
                pace.missed(now)
            else:
                found.setdefault(id(place[0]), (place[0], {}))[1][place[1]] = pace.life
        return list(found.values())

    async def _look(self, server: Shown, lives: dict[MuxPaneId, Life]) -> None:
        self._busy.add(id(server))
        try:
            seen = await self._captures(server, list(lives))
            at = self._clock.now()
            pairs = zip(lives.values(), seen, strict=True)
            looks = [Look(life, one, at) for life, one in pairs if one is not None and _is_in(life, one)]
            self.meter.count(len(looks), at, self._clock.monotonic())
            if looks:
                await self._take(looks)
        finally:
            self._busy.discard(id(server))
        for life, one in zip(lives.values(), seen, strict=True):
            if one is None and (pace := self._paces.get(life.pane)):
                pace.missed(self._clock.monotonic())
                self._wake.set()

    async def _captures(self, server: Shown, panes: list[MuxPaneId]) -> list[Capture | None]:
        try:
            return await server.looks(panes)
        except MuxError as error:
            log.debug("no look was possible: %s", error)
            return [None] * len(panes)


def _is_in(life: Life, seen: Capture) -> bool:
    """Whether the pane still shows the screen whose life it was: it may have left the alternate one meanwhile."""
    return seen.alternate == life.is_alternate
