"""Fetch what `visor up` shows: the table of the operation `list-panes`, and one line with the daemon's own cost."""

from typing import Any

from msgspec import convert
from msgspec.structs import replace

from termvisor.client.connection import connect_if_running
from termvisor.errors import Unavailable, VisorError
from termvisor.frontends.cli import fast_client
from termvisor.frontends.tui.table_view import TableView
from termvisor.ops.render.text import format_bytes, pluralize, sanitize
from termvisor.ops.system.health import HealthReport
from termvisor.protocol.command_protocol import CommandRequest, TerminalInfo
from termvisor.settings import Paths


def build_view(paths: Paths, terminal: TerminalInfo) -> TableView:
    """Fetch the current table; raise VisorError if the daemon does not answer."""
    health = convert(call_daemon(paths, "health"), HealthReport)
    lines = fetch_table(paths, terminal).split("\n")
    title, rows, foot = lines[0], lines[1:-2], lines[-1]
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
    connection = connect_if_running(paths.daemon_socket)
    if connection is None:
        raise Unavailable("no daemon is running")
    try:
        return connection.call(name, {})
    finally:
        connection.close()


def render_cost(health: HealthReport) -> str:
    """Return the memory, CPU and database cost of daemon and recorder as one line."""
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
