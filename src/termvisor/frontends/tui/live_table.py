"""Run the live table of `visor up`: fetch the panes and the daemon's resource usage, paint them, wait for a key.

It keeps running while the daemon restarts. Invariant: it never paints more rows than fit; on a short screen, header
and footer are dropped before panes.
"""

from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from termvisor.client.connection import connect_if_running
from termvisor.clock import SystemClock
from termvisor.errors import Unavailable, VisorError
from termvisor.frontends.cli import fast_client
from termvisor.frontends.tui.raw_terminal import NAVIGATION_KEYS, KeyDecoder, RawTerminal
from termvisor.ops.render.text import format_bytes, pluralize, sanitize
from termvisor.ops.system.health import HealthReport
from termvisor.protocol.command_protocol import CommandRequest, TerminalInfo
from termvisor.settings import Paths

TABLE_KEYS = NAVIGATION_KEYS | {
    b"k": "up",
    b"j": "down",
    b" ": "page_down",
    b"\x1b[F": "end",
    b"\x1bOF": "end",
    b"\x1b[4~": "end",
    b"G": "end",
}
_HOME, _CLEAR_LINE, _CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"
# Terminals without synchronized updates ignore these modes.
_SYNC_BEGIN, _SYNC_END = "\x1b[?2026h", "\x1b[?2026l"


class TableView(Struct, frozen=True, kw_only=True):
    """Resource usage (``head``), column titles, pane rows and a summary (``foot``). ``problem`` replaces the head."""

    head: str = ""
    title: str = ""
    rows: tuple[str, ...] = ()
    foot: str = ""
    problem: str = ""


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
        self._clock, self._keys = SystemClock(), KeyDecoder(TABLE_KEYS)
        self._view, self._top, self._width = TableView(), 0, 0

    def run(self, interval: float) -> None:
        next_refresh = 0.0
        while not self._terminal.is_closed:
            width, height = self._terminal.get_size()
            if self._clock.monotonic() >= next_refresh or width != self._width:
                self._refresh(width)
                next_refresh = self._clock.monotonic() + interval
            # Panes may have closed since the last key, so limit the position again.
            self._top = scroll_to(self._top, "", len(self._view.rows), count_visible_rows(self._view, height))
            self._terminal.write(encode_rows(compose_rows(self._view, height, self._top)))
            if self._handle_keys(self._terminal.wait_for_keys(next_refresh - self._clock.monotonic()), height):
                return

    def _refresh(self, width: int) -> None:
        self._width = width
        try:
            self._view = build_view(self._paths, TerminalInfo(width, True, self._colour))
        # The daemon may be restarting. Keep the last table until it answers again.
        except (VisorError, OSError) as error:
            self._view = build_disconnected_view(self._view, error)

    def _handle_keys(self, data: bytes | None, height: int) -> bool:
        for key in self._keys.feed(data or b""):
            if key == "quit":
                return True
            self._top = scroll_to(self._top, key, len(self._view.rows), count_visible_rows(self._view, height))
        return False


def build_view(paths: Paths, terminal: TerminalInfo) -> TableView:
    """Fetch the current table. Raises VisorError if the daemon does not answer."""
    health = convert(call_daemon(paths, "health"), HealthReport)
    lines = fetch_table(paths, terminal).split("\n")
    title, rows, foot = lines[0], lines[1:-2], lines[-1]
    # Without panes, the operation prints just a sentence.
    if len(lines) < 4:
        title, rows, foot = "", lines, pluralize(0, "pane")
    return TableView(head=render_cost(health), title=title, rows=tuple(rows), foot=foot)


def build_disconnected_view(last_view: TableView, error: VisorError | OSError) -> TableView:
    """Return the last view with the connection error as its header."""
    return replace(last_view, problem=f"{error}; waiting for the daemon (`visor daemon start` starts it)")


def fetch_table(paths: Paths, terminal: TerminalInfo) -> str:
    """Return the text of `visor list-panes` for this terminal."""
    output: list[bytes] = []
    request = CommandRequest(("list-panes",), terminal=terminal)
    status = fast_client.exchange(paths.daemon_socket, request, lambda _kind, data: output.append(data))
    text = b"".join(output).decode("utf-8", "replace").rstrip("\n")
    if status:
        raise Unavailable(text or "the daemon does not answer")
    return text


def call_daemon(paths: Paths, name: str) -> Any:
    connection = connect_if_running(paths.daemon_socket, "tui")
    if connection is None:
        raise Unavailable("no daemon is running")
    try:
        return connection.call(name, {})
    finally:
        connection.close()


def render_cost(health: HealthReport) -> str:
    """Return the memory, CPU and database usage of the daemon and the recorder as one line."""
    recorder = health.recorder
    parts = [
        f"daemon {format_bytes(health.daemon.rss_bytes)} {health.daemon.cpu_percent:.1f} % cpu",
        f"recorder {format_bytes(recorder.rss_bytes)} {recorder.cpu_percent:.1f} %" if recorder else "no recorder",
        f"lag {health.ingest_lag_max * 1000:.0f} ms",
        pluralize(health.forks, "fork"),
        f"db {format_bytes(health.db_bytes)}",
        pluralize(health.gaps, "gap"),
        *(f"ALERT {sanitize(alert)}" for alert in health.alerts),
    ]
    return " · ".join(parts)


def count_visible_rows(view: TableView, height: int) -> int:
    """Return the number of pane rows that fit."""
    return max(1, height - len(_compose_header(view, height)) - _count_footer_rows(height))


def compose_rows(view: TableView, height: int, top: int) -> list[str]:
    """Return the rows of the screen with ``top`` as the first visible pane."""
    shown = view.rows[top : top + count_visible_rows(view, height)]
    rows = [*_compose_header(view, height), *shown]
    if not _count_footer_rows(height):
        return rows[:height]
    blank = [""] * (height - 1 - len(rows))
    return [*rows, *blank, _render_footer(view, top, len(shown))][:height]


def scroll_to(top: int, key: str, count: int, page_size: int) -> int:
    """Return the index of the first visible pane after a key press."""
    moves = {"up": -1, "down": 1, "page_up": -page_size, "page_down": page_size, "home": -count, "end": count}
    return max(0, min(top + moves.get(key, 0), count - page_size))


def encode_rows(rows: list[str]) -> bytes:
    """Return one synchronized update that paints the rows. Wrapping is off, so the terminal cuts long rows.

    Each row is cleared before it is written, because after a full row the cursor is still on its last character.
    """
    clears = [*[_CLEAR_LINE] * (len(rows) - 1), _CLEAR_REST]
    body = "\r\n".join(f"{clear}{row}\x1b[0m" for clear, row in zip(clears, rows or [""], strict=True))
    return f"{_SYNC_BEGIN}{_HOME}{body}{_SYNC_END}".encode("utf-8", "replace")


def _compose_header(view: TableView, height: int) -> list[str]:
    rows = [view.problem or view.head, "", view.title] if height >= 8 else [view.problem or view.title]
    return rows if height >= 3 else []


def _count_footer_rows(height: int) -> int:
    return 1 if height >= 5 else 0


def _render_footer(view: TableView, top: int, shown: int) -> str:
    position = f"{top + 1}-{top + shown} of " if shown < len(view.rows) else ""
    return f"{position}{view.foot}   q quits, arrows and PgUp/PgDn scroll; the daemon runs until `visor down`"
