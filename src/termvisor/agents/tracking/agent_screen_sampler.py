"""Looks at the screens of agents: those that the eyes take anyway, and, where a pane does not repaint, some of its own.

After a burst of output a pane is looked at once it has settled; then every two seconds for a while, and then ever more
seldom, up to thirty seconds apart, so that a screen which says something else than the agent is noticed. All goes
through the control client; no program is started.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from termvisor.agents.tracking.pane_info import Standing
from termvisor.agents.tracking.remote_agents import Afar
from termvisor.agents.tracking.signal_reader import Hearing
from termvisor.agents.tracking.tracker import Knowing
from termvisor.backends.pane_source import Capture
from termvisor.capture.screen_sampler import Look, Place, Shown
from termvisor.clock import NS, Clock
from termvisor.errors import MuxError
from termvisor.log import logger
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.redaction import Memory, Redactor

TICK = 0.5
_APART = 1.0
_BRISK, _SELDOM = 2.0, 30.0
_WAKEFUL_FOR = 16.0
"""Seconds after the last output before looks become seldom: by then all that looks can prove is proven."""
log = logger("gaze")


class Pace(Struct):
    """The rhythm of one agent's pane, in seconds of a clock that never runs backwards."""

    due: float
    pause: float = _BRISK
    looked: float = 0.0
    stirred: float = 0.0
    moved_at: int | None = None

    def stir(self, moved_at: int | None, now: float) -> None:
        """It printed: once that has settled, it is looked at."""
        if moved_at != self.moved_at:
            self.moved_at, self.stirred, self.pause = moved_at, now, _BRISK
            self.due = min(self.due, max(now + TICK, self.looked + _APART))

    def look(self, now: float) -> None:
        """It is being looked at."""
        is_wakeful = now - self.stirred < _WAKEFUL_FOR
        self.pause = _BRISK if is_wakeful else min(_SELDOM, 2 * self.pause)
        self.looked, self.due = now, now + self.pause


class Gaze:
    def __init__(self, knowing: Knowing, hearing: Hearing, afar: Afar, clock: Clock):
        self._knowing, self._hearing, self._afar, self._clock = knowing, hearing, afar, clock
        self.standing: Callable[[PaneId], Standing | None] = lambda pane: None
        self.place: Place = lambda pane: None
        self.secrets: Callable[[PaneId], Memory] = lambda pane: Memory()
        self._paces: dict[PaneId, Pace] = {}

    async def run(self) -> None:
        while True:
            await self._clock.sleep(TICK)
            await self.turn()

    async def turn(self) -> None:
        """Look at those whose time has come."""
        living = self._knowing.living
        if not living and not self._paces:
            return
        now = self._clock.monotonic()
        self._paces = {pane: self._paces.get(pane) or Pace(due=now) for pane in living}
        for pane, pace in self._paces.items():
            pace.stir(self._hearing.moved_at(pane), now)
        for pane in [pane for pane, runtime in living.items() if not runtime.pid]:
            if one := self.standing(pane):
                self._afar.end(one)
        for server, panes in self._due(now):
            await self._look(server, panes)

    def take(self, looks: Sequence[Look]) -> None:
        """What the eyes saw."""
        now = self._clock.monotonic()
        for look in looks:
            pane = look.life.pane
            if pace := self._paces.get(pane):
                pace.look(now)
                self._show(pane, look.seen, look.at, pace)
            elif pane not in self._knowing.living and (one := self.standing(pane)) and self._afar.is_due(one):
                self._afar.look(one, self._screen(pane, look.seen, look.at))

    def _due(self, now: float) -> list[tuple[Shown, dict[MuxPaneId, PaneId]]]:
        found: dict[int, tuple[Shown, dict[MuxPaneId, PaneId]]] = {}
        for pane, pace in self._paces.items():
            if now < pace.due:
                continue
            pace.look(now)
            if place := self.place(pane):
                found.setdefault(id(place[0]), (place[0], {}))[1][place[1]] = pane
        return list(found.values())

    async def _look(self, server: Shown, panes: dict[MuxPaneId, PaneId]) -> None:
        try:
            seen = await server.looks(list(panes))
        except MuxError as error:
            log.debug("no look was possible: %s", error)
            return
        at = self._clock.now()
        for pane, one in zip(panes.values(), seen, strict=True):
            if one is not None and (pace := self._paces.get(pane)):
                self._show(pane, one, at, pace)

    def _show(self, pane: PaneId, seen: Capture, at: int, pace: Pace) -> None:
        self._hearing.look(self._screen(pane, seen, at), int(pace.pause * NS))

    def _screen(self, pane: PaneId, seen: Capture, at: int) -> Screen:
        rows = Redactor(memory=self.secrets(pane)).lines([row.rstrip() for row in seen.rows])
        return seen.screen(pane, rows, at)
