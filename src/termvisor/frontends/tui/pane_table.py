"""What `visor up` shows: the panes as the operation `list_panes` words them, under a line on our own cost."""

from typing import Any

from msgspec import convert

from termvisor.client.connection import connect_if_running
from termvisor.errors import Unavailable, VisorError
from termvisor.frontends.cli import fast_client
from termvisor.frontends.tui.table_view import TableView
from termvisor.ops.render.text import format_bytes, pluralize, sanitize
from termvisor.ops.system.health import HealthReport
from termvisor.protocol.command_protocol import CommandRequest, TerminalInfo
from termvisor.settings import Paths


def build_view(paths: Paths, terminal: TerminalInfo) -> TableView:
    """The fleet now; an error of ours when the daemon cannot tell."""
    health = convert(call_daemon(paths, "health"), HealthReport)
    lines = fetch_table(paths, terminal).split("\n")
    title, rows, foot = lines[0], lines[1:-2], lines[-1]
    if len(lines) < 4:
        title, rows, foot = "", lines, pluralize(0, "pane")
    return TableView(head=render_cost(health), title=title, rows=tuple(rows), foot=foot)


def build_disconnected_view(last_view: TableView, error: VisorError | OSError) -> TableView:
    """The last view, under the reason why there is no newer one."""
    trouble = f"{error}; waiting for the daemon (`visor daemon start` starts it)"
    return TableView(
        head=last_view.head, title=last_view.title, rows=last_view.rows, foot=last_view.foot, trouble=trouble
    )


def fetch_table(paths: Paths, terminal: TerminalInfo) -> str:
    """The panes, ready to print."""
    pieces: list[bytes] = []
    asked = CommandRequest(("list-panes",), terminal=terminal)
    status = fast_client.exchange(paths.daemon_socket, asked, lambda _kind, data: pieces.append(data))
    text = b"".join(pieces).decode("utf-8", "replace").rstrip("\n")
    if status:
        raise Unavailable(text or "the daemon does not answer")
    return text


def call_daemon(paths: Paths, name: str) -> Any:
    line = connect_if_running(paths.daemon_socket)
    if line is None:
        raise Unavailable("no daemon is running")
    try:
        return line.call(name, {})
    finally:
        line.close()


def render_cost(health: HealthReport) -> str:
    """Our own cost in one line."""
    recorder = health.recorder
    told = f"recorder {format_bytes(recorder.rss_bytes)} {recorder.cpu_percent:.1f} %" if recorder else "no recorder"
    parts = [
        f"daemon {format_bytes(health.daemon.rss_bytes)} {health.daemon.cpu_percent:.1f} % cpu",
        told,
        f"lag {health.ingest_lag_max * 1000:.0f} ms",
        pluralize(health.forks, "fork"),
        f"db {format_bytes(health.db_bytes)}",
        pluralize(health.gaps, "gap"),
        *(f"ALERT {sanitize(alert)}" for alert in health.alerts),
    ]
    return " · ".join(parts)
