"""Run the live table of `visor up`: fetch the panes and requests, paint them, act on keys.

It keeps running while the daemon restarts. Requests are answered and panes are entered by the same operations as on the
command line, so that the daemon sees the user at this terminal.
"""

from typing import Any

import msgspec
from msgspec import convert
from msgspec.structs import replace

from termvisor.client.connection import connect_if_running
from termvisor.clock import SystemClock, parse_timestamp
from termvisor.errors import Unavailable, VisorError
from termvisor.frontends.cli import fast_client
from termvisor.frontends.cli.attach import AttachAnswer, choose_tmux_command
from termvisor.frontends.tui import pane_table
from termvisor.frontends.tui.pane_table import TableState, TableView
from termvisor.frontends.tui.raw_terminal import NAVIGATION_KEYS, KeyDecoder, RawTerminal
from termvisor.ops.approvals.inbox import InboxListing
from termvisor.ops.panes.list_panes import PaneListing, render_summary, render_text
from termvisor.ops.render.text import RenderOptions, format_bytes, pluralize, sanitize, sanitize_lines, shorten
from termvisor.ops.system.health import HealthReport
from termvisor.protocol.command_protocol import CommandRequest, TerminalInfo
from termvisor.settings import Paths, get_environment, get_home_folder
from termvisor.system.subprocesses import run_and_capture, run_in_terminal

TABLE_KEYS = NAVIGATION_KEYS | {
    b"k": "up",
    b"j": "down",
    b" ": "page_down",
    b"\x1b[F": "end",
    b"\x1bOF": "end",
    b"\x1b[4~": "end",
    b"G": "end",
    b"\r": "enter",
    b"\n": "enter",
    b"a": "approve",
    b"d": "deny",
    b"y": "yes",
    b"n": "no",
    b"/": "filter",
    b"?": "help",
}
_HOME, _CLEAR_LINE, _CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"
# Terminals without synchronized updates ignore these modes.
_SYNC_BEGIN, _SYNC_END = "\x1b[?2026h", "\x1b[?2026l"
# A screen is classified about a second after its agent has started.
_RECOGNITION_NS = 1_500_000_000
# An agent without a state is most likely still starting; later its state is not known for another reason.
_AGENT_RECOGNITION_NS = 10_000_000_000
_ESCAPE, _BACKSPACE = "\x1b", ("\x7f", "\x08")


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
        self._view, self._state = TableView(), TableState()
        self._has_quit = self._needs_refresh = False

    def run(self, interval: float) -> None:
        next_refresh = 0.0
        while not self._terminal.is_closed and not self._has_quit:
            if self._clock.monotonic() >= next_refresh or self._needs_refresh:
                self._refresh()
                next_refresh = self._clock.monotonic() + interval
            width, height = self._terminal.get_size()
            # Panes may have come or gone since the last key.
            self._select("")
            options = RenderOptions(
                width=width, colour=self._colour, now=self._clock.now(), is_terminal=True, home=get_home_folder()
            )
            rows = pane_table.compose_rows(self._view, self._state, options, height)
            self._terminal.write(encode_rows([_cut_row(row, width) for row in rows]))
            self._handle_input(self._terminal.wait_for_keys(next_refresh - self._clock.monotonic()) or b"")

    def _refresh(self) -> None:
        self._needs_refresh = False
        try:
            self._view = fetch_view(self._paths)
        # The daemon may be restarting. Keep the last table until it answers again.
        except (VisorError, OSError) as error:
            self._view = build_disconnected_view(self._view, error)

    def _select(self, key: str) -> None:
        width, height = self._terminal.get_size()
        panes = self._view.filter(self._state.filter)
        page_size = pane_table.count_visible_rows(self._view, self._state, width, height)
        selected, top = pane_table.select_row(panes, self._state, key, page_size)
        self._state = replace(self._state, selected=selected, top=top)

    def _handle_input(self, data: bytes) -> None:
        if self._state.is_typing and not data.startswith(b"\x1b["):
            self._state = edit_filter(self._state, data.decode("utf-8", "ignore"))
            return
        # Typed quickly, `/` and the text for the filter arrive together.
        data, slash, text = data.partition(b"/")
        # A lone Escape is not a key of the decoder, because it may begin a sequence.
        for key in ["escape"] if data == b"\x1b" else self._keys.feed(data + slash):
            self._handle_key(key)
        if text:
            self._handle_input(text)

    def _handle_key(self, key: str) -> None:
        state = self._state
        if key == "quit":
            self._has_quit = True
        elif state.is_help:
            self._state = replace(state, is_help=False)
        elif state.question is not None:
            self._state = replace(state, question=None, message="" if key == "yes" else "Not answered.")
            if key == "yes":
                self._answer(state.answer.lower(), state.question.id)
        else:
            self._state = replace(state, message="")
            self._handle_table_key(key)

    def _handle_table_key(self, key: str) -> None:
        state = self._state
        if key == "help":
            self._state = replace(state, is_help=True)
        elif key == "filter":
            self._state = replace(state, is_typing=True)
        elif key == "escape":
            self._state = replace(state, filter="")
        elif key == "enter" and state.selected is not None:
            self._state = replace(state, message=self._switch_to_pane(state.selected))
        elif key in ("approve", "deny"):
            request = self._view.requests.get(state.selected or 0)
            missing = "" if request else "The selected pane has no open request."
            self._state = replace(state, question=request, answer=key.capitalize(), message=missing)
        else:
            self._select(key)

    def _answer(self, command: str, number: int) -> None:
        """Answer a request as `visor approve` and `visor deny` do."""
        _status, text = self._run_command(command, str(number))
        self._state = replace(self._state, message=text or "The daemon did not answer.")
        self._needs_refresh = True

    def _switch_to_pane(self, pane: int) -> str:
        """Show a pane in the user's tmux client, or attach one here; return what to tell the user."""
        tmux = get_environment().get("TMUX", "")
        try:
            status, text = self._run_command("attach", "--json", "--full", "--", str(pane))
            attached = msgspec.json.decode(text, type=AttachAnswer).data if status == 0 else None
            if attached is None:
                return text
            command = choose_tmux_command(attached, tmux)
            if not tmux:
                return self._attach_here(command, pane)
            status, _, errors = run_and_capture(command)
        except VisorError as error:
            return f"{error.message}. `visor attach {pane}` shows the pane in another terminal."
        return errors.decode(errors="replace").strip() if status else ""

    def _attach_here(self, command: tuple[str, ...], pane: int) -> str:
        """Run tmux in this terminal until the user detaches; then the table is back."""
        with self._terminal.lend():
            status = run_in_terminal(command)
        self._needs_refresh = True
        return f"tmux ended with status {status}. `visor attach {pane}` shows why." if status else ""

    def _run_command(self, *argv: str) -> tuple[int, str]:
        output: list[bytes] = []
        request = CommandRequest(argv, terminal=TerminalInfo(0, True, False))
        status = fast_client.exchange(
            self._paths.daemon_socket, request, lambda kind, data: output.append(data) if kind in b"oe" else None
        )
        return status, sanitize_lines(b"".join(output).decode("utf-8", "replace")).strip()


def edit_filter(state: TableState, typed: str) -> TableState:
    """Apply typed characters to the filter: Enter keeps it, Escape ends it."""
    for char in typed:
        if char in "\r\n":
            return replace(state, is_typing=False)
        if char == _ESCAPE:
            return replace(state, is_typing=False, filter="")
        if char in _BACKSPACE:
            state = replace(state, filter=state.filter[:-1])
        elif char.isprintable():
            state = replace(state, filter=state.filter + char)
    return state


def fetch_view(paths: Paths) -> TableView:
    """Fetch panes, open requests and resource usage. Raises VisorError if the daemon does not answer."""
    health = convert(call_daemon(paths, "health"), HealthReport)
    listing = convert(call_daemon(paths, "list_panes"), PaneListing)
    inbox = convert(call_daemon(paths, "inbox"), InboxListing)
    # Of several requests of a pane the oldest one comes first.
    requests = {item.pane: item for item in reversed(inbox.items) if item.pane is not None and item.state == "open"}
    empty = "" if listing.items else render_text(listing, RenderOptions())
    return TableView(
        head=render_cost(health),
        summary=render_summary(listing.summary),
        panes=pane_table.sort_panes(listing, requests),
        requests=requests,
        empty=empty,
    )


def build_disconnected_view(last_view: TableView, error: VisorError | OSError) -> TableView:
    """Return the last view with the connection error as its header."""
    return replace(last_view, problem=f"{error}; waiting for the daemon (`visor daemon start` starts it)")


def has_known_states(view: TableView, now: int) -> bool:
    """Return True once every pane is captured and its agent, if any, had time to be recognized."""
    return all(
        pane.heard_by != "none"
        and pane.activity.kind != "gap"
        and (
            pane.state not in (None, "unknown")
            or (now - parse_timestamp(pane.state_since or pane.first_seen_at, now))
            > (_AGENT_RECOGNITION_NS if pane.agent else _RECOGNITION_NS)
        )
        for pane in view.panes
    )


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


def _cut_row(row: str, width: int) -> str:
    # Painted rows fit already; escape sequences would be counted as text.
    return row if "\x1b" in row else shorten(row, width)


def encode_rows(rows: list[str]) -> bytes:
    """Return one synchronized update that paints the rows. Wrapping is off, so the terminal cuts long rows.

    Each row is cleared before it is written, because after a full row the cursor is still on its last character.
    """
    clears = [*[_CLEAR_LINE] * (len(rows) - 1), _CLEAR_REST]
    body = "\r\n".join(f"{clear}{row}\x1b[0m" for clear, row in zip(clears, rows or [""], strict=True))
    return f"{_SYNC_BEGIN}{_HOME}{body}{_SYNC_END}".encode("utf-8", "replace")
