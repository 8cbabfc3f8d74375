"""What `visor up` shows: the panes as the operation `list_panes` words them, under a line on our own cost."""

from typing import Any

from msgspec import convert

from termvisor.client.connection import reach
from termvisor.errors import Unavailable, VisorError
from termvisor.frontends.cli import fast_client as courier
from termvisor.frontends.tui.table_view import View
from termvisor.ops.render.text import clean, counted, size
from termvisor.ops.system.health import HealthReport
from termvisor.protocol.command_protocol import Asked, Look
from termvisor.settings import Places


def view(where: Places, look: Look) -> View:
    """The fleet now; an error of ours when the daemon cannot tell."""
    health = convert(call(where, "health"), HealthReport)
    lines = table(where, look).split("\n")
    title, rows, foot = lines[0], lines[1:-2], lines[-1]
    if len(lines) < 4:
        title, rows, foot = "", lines, counted(0, "pane")
    return View(head=cost(health), title=title, rows=tuple(rows), foot=foot)


def lost(old: View, error: VisorError | OSError) -> View:
    """The last view, under the reason why there is no newer one."""
    trouble = f"{error}; waiting for the daemon (`visor daemon start` starts it)"
    return View(head=old.head, title=old.title, rows=old.rows, foot=old.foot, trouble=trouble)


def table(where: Places, look: Look) -> str:
    """The panes, ready to print."""
    pieces: list[bytes] = []
    asked = Asked(("list-panes",), look=look)
    status = courier.collect(where.daemon_socket, asked, lambda _kind, data: pieces.append(data))
    text = b"".join(pieces).decode("utf-8", "replace").rstrip("\n")
    if status:
        raise Unavailable(text or "the daemon does not answer")
    return text


def call(where: Places, name: str) -> Any:
    line = reach(where.daemon_socket)
    if line is None:
        raise Unavailable("no daemon is running")
    try:
        return line.call(name, {})
    finally:
        line.close()


def cost(health: HealthReport) -> str:
    """Our own cost in one line."""
    recorder = health.recorder
    told = f"recorder {size(recorder.rss_bytes)} {recorder.cpu_percent:.1f} %" if recorder else "no recorder"
    parts = [
        f"daemon {size(health.daemon.rss_bytes)} {health.daemon.cpu_percent:.1f} % cpu",
        told,
        f"lag {health.ingest_lag_max * 1000:.0f} ms",
        counted(health.forks, "fork"),
        f"db {size(health.db_bytes)}",
        counted(health.gaps, "gap"),
        *(f"ALERT {clean(alert)}" for alert in health.alerts),
    ]
    return " · ".join(parts)
