"""Run the live table of `visor up`: refresh, paint, wait for a key; keep running while the daemon is restarted."""

from termvisor.clock import SystemClock
from termvisor.errors import VisorError
from termvisor.frontends.tui import pane_table
from termvisor.frontends.tui.keys import KeyDecoder
from termvisor.frontends.tui.raw_terminal import RawTerminal
from termvisor.frontends.tui.table_view import TableView, compose_rows, count_visible_rows, encode_rows, scroll_to
from termvisor.protocol.command_protocol import TerminalInfo
from termvisor.settings import Paths


def run_live_table(paths: Paths, interval: float, *, colour: bool) -> None:
    """Show the table until the user quits."""
    with RawTerminal() as terminal:
        try:
            _LiveTable(paths, terminal, colour).run(interval)
        except KeyboardInterrupt:
            return


class _LiveTable:
    def __init__(self, paths: Paths, terminal: RawTerminal, colour: bool):
        self._paths, self._terminal, self._colour = paths, terminal, colour
        self._clock, self._keys = SystemClock(), KeyDecoder()
        self._view, self._top, self._width = TableView(), 0, 0

    def run(self, interval: float) -> None:
        next_refresh = 0.0
        while not self._terminal.is_closed:
            width, height = self._terminal.get_size()
            if self._clock.monotonic() >= next_refresh or width != self._width:
                self._refresh(width)
                next_refresh = self._clock.monotonic() + interval
            self._top = scroll_to(self._top, "", len(self._view.rows), count_visible_rows(self._view, height))
            self._terminal.write(encode_rows(compose_rows(self._view, height, self._top)))
            if self._handle_keys(self._terminal.wait_for_keys(next_refresh - self._clock.monotonic()), height):
                return

    def _refresh(self, width: int) -> None:
        self._width = width
        try:
            self._view = pane_table.build_view(self._paths, TerminalInfo(width, True, self._colour))
        except (VisorError, OSError) as error:
            self._view = pane_table.build_disconnected_view(self._view, error)

    def _handle_keys(self, data: bytes | None, height: int) -> bool:
        for key in self._keys.feed(data or b""):
            if key == "quit":
                return True
            self._top = scroll_to(self._top, key, len(self._view.rows), count_visible_rows(self._view, height))
        return False
