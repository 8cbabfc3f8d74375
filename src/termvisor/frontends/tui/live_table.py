"""The live table: look, paint, wait for a key or the next look. It outlives the daemon and takes it up again."""

from termvisor.clock import SystemClock
from termvisor.errors import VisorError
from termvisor.frontends.tui import fleet_table as fleet
from termvisor.frontends.tui.keys import Keys
from termvisor.frontends.tui.raw_terminal import Terminal
from termvisor.frontends.tui.table_view import View, compose, paint, room, scroll
from termvisor.protocol.command_protocol import Look
from termvisor.settings import Places


def watch(where: Places, interval: float, *, colour: bool) -> None:
    """Until the reader leaves."""
    with Terminal() as terminal:
        try:
            _Table(where, terminal, colour).run(interval)
        except KeyboardInterrupt:
            return


class _Table:
    def __init__(self, where: Places, terminal: Terminal, colour: bool):
        self._where, self._terminal, self._colour = where, terminal, colour
        self._clock, self._keys = SystemClock(), Keys()
        self._view, self._top, self._width = View(), 0, 0

    def run(self, interval: float) -> None:
        next_look = 0.0
        while not self._terminal.is_over:
            width, height = self._terminal.size()
            if self._clock.monotonic() >= next_look or width != self._width:
                self._look(width)
                next_look = self._clock.monotonic() + interval
            self._top = scroll(self._top, "", len(self._view.rows), room(self._view, height))
            self._terminal.show(paint(compose(self._view, height, self._top)))
            if self._leaves(self._terminal.wait(next_look - self._clock.monotonic()), height):
                return

    def _look(self, width: int) -> None:
        self._width = width
        try:
            self._view = fleet.view(self._where, Look(width, True, self._colour))
        except (VisorError, OSError) as error:
            self._view = fleet.lost(self._view, error)

    def _leaves(self, data: bytes | None, height: int) -> bool:
        for key in self._keys.feed(data or b""):
            if key == "quit":
                return True
            self._top = scroll(self._top, key, len(self._view.rows), room(self._view, height))
        return False
