"""Fetch and print all panes once, for `visor up` without a terminal: those that need a person first."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert

from termvisor.client.connection import connect_if_running
from termvisor.clock import SystemClock, parse_timestamp
from termvisor.errors import Unavailable
from termvisor.ops.approvals._approval_item import ApprovalItem
from termvisor.ops.approvals.inbox import InboxListing
from termvisor.ops.panes.list_panes import PaneItem, PaneListing, choose_columns, render_summary, render_text
from termvisor.ops.render.table import render_table
from termvisor.ops.render.text import RenderOptions, format_bytes, pluralize, sanitize, wrap_lines
from termvisor.ops.system.health import HealthReport
from termvisor.protocol.command_protocol import TerminalInfo
from termvisor.settings import Paths, get_home_folder

# A screen is classified about a second after its agent has started.
_RECOGNITION_NS = 1_500_000_000
# An agent without a state is most likely still starting; later its state is not known for another reason.
_AGENT_RECOGNITION_NS = 10_000_000_000


class FleetSnapshot(Struct, frozen=True, kw_only=True):
    """The cost line, the panes in order, the summary, and the text that stands for an empty table."""

    head: str
    panes: tuple[PaneItem, ...]
    summary: str
    empty: str


def fetch_snapshot(paths: Paths) -> FleetSnapshot:
    """Fetch panes, open requests and resource usage. Raises VisorError if the daemon does not answer."""
    health = convert(call_daemon(paths, "health"), HealthReport)
    listing = convert(call_daemon(paths, "list_panes"), PaneListing)
    inbox = convert(call_daemon(paths, "inbox"), InboxListing)
    requests = {item.pane: item for item in inbox.items if item.pane is not None and item.state == "open"}
    return FleetSnapshot(
        head=render_cost(health),
        panes=sort_panes(listing, requests),
        summary=render_summary(listing.summary),
        empty="" if listing.items else render_text(listing, RenderOptions()),
    )


def render_snapshot(paths: Paths, terminal: TerminalInfo) -> str:
    """Return the cost line, the table and the summary."""
    snapshot = fetch_snapshot(paths)
    options = RenderOptions(
        width=terminal.width, colour=terminal.colour, now=SystemClock().now(), home=get_home_folder()
    )
    table = render_table(choose_columns(snapshot.panes), snapshot.panes, options) or snapshot.empty
    return wrap_lines(f"{snapshot.head}\n\n{table}\n\n{snapshot.summary}\n", terminal.width)


def sort_panes(listing: PaneListing, requests: Mapping[int, ApprovalItem]) -> tuple[PaneItem, ...]:
    """Return the panes: those that need the user, longest waiting first; then agents; then the others."""

    def rank(pane: PaneItem) -> tuple[int, float, int]:
        number = pane.identity.id
        if pane.needs_action or number in requests:
            return 0, -(pane.state_age or 0.0), number
        return (1 if pane.agent else 2), 0.0, number

    return tuple(sorted(listing.items, key=rank))


def has_known_states(snapshot: FleetSnapshot, now: int) -> bool:
    """Return True once every pane is captured and its agent, if any, had time to be recognized."""
    return all(
        pane.heard_by != "none"
        and pane.activity.kind != "gap"
        and (
            pane.state not in (None, "unknown")
            or (now - parse_timestamp(pane.state_since or pane.first_seen_at, now))
            > (_AGENT_RECOGNITION_NS if pane.agent else _RECOGNITION_NS)
        )
        for pane in snapshot.panes
    )


def call_daemon(paths: Paths, name: str) -> Any:
    """Call an operation without arguments. Raises Unavailable if no daemon is running."""
    connection = connect_if_running(paths.daemon_socket)
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
