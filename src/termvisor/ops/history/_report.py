"""Render a Markdown report of a period: panes, commands, events, gaps. Pure.

Invariant: text from a pane is redacted, sanitized and escaped, so that it cannot break out of its table cell.
"""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.clock import NS, format_timestamp
from termvisor.model.event import Event
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.output import UNCERTAIN_TAIL, Gap
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.history._asciicast import format_event
from termvisor.ops.render.results import format_optional_timestamp
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, pluralize
from termvisor.redaction import redact

# Maximum number of commands and events in a report; the newest are listed.
MAX_REPORT_ITEMS = 10_000
_MARKDOWN_OPTIONS = RenderOptions(width=0, format="markdown")


class TimeRange(Struct, frozen=True):
    """A time range; None means unbounded."""

    since: int | None = None
    until: int | None = None

    def contains(self, at: int) -> bool:
        return self.overlaps(at, at)

    def overlaps(self, start: int, end: int | None) -> bool:
        """Return True if the period overlaps this range; ``end`` is None if it has not ended."""
        is_begun = self.until is None or start <= self.until
        return is_begun and (self.since is None or end is None or end >= self.since)


class ReportData(Struct, frozen=True, kw_only=True):
    """Input of a report."""

    panes: Sequence[PaneView]
    commands: Sequence[ShellCommand]
    events: Sequence[Event]
    gaps: Sequence[Gap]


_PANE_COLUMNS = (
    TableColumn("Pane", lambda pane: str(pane.id), is_right_aligned=True),
    TableColumn("Session", lambda pane: redact(pane.facts.session_name)),
    TableColumn("Program", lambda pane: redact(pane.facts.command)),
    TableColumn("First seen", lambda pane: format_timestamp(pane.first_seen_at)),
    TableColumn("Last output", lambda pane: format_optional_timestamp(pane.last_output_at) or ""),
    TableColumn("Closed", lambda pane: format_optional_timestamp(pane.gone_at) or ""),
    TableColumn("Lines", lambda pane: str(pane.lines), is_right_aligned=True),
    TableColumn("Gaps", lambda pane: str(pane.gaps), is_right_aligned=True),
)
_COMMAND_COLUMNS = (
    TableColumn("Started", lambda command: format_timestamp(command.started_at)),
    TableColumn("Pane", lambda command: str(command.pane), is_right_aligned=True),
    TableColumn(
        "Exit",
        lambda command: command.status if command.exit_code is None else str(command.exit_code),
        is_right_aligned=True,
    ),
    TableColumn(
        "Seconds", lambda command: _format_seconds(command.started_at, command.ended_at), is_right_aligned=True
    ),
    TableColumn("Folder", lambda command: redact(command.cwd or "")),
    TableColumn("Command", lambda command: redact(command.line or "?")),
)
_EVENT_COLUMNS = (
    TableColumn("Time", lambda event: format_timestamp(event.at)),
    TableColumn("Pane", lambda event: "" if event.pane is None else str(event.pane), is_right_aligned=True),
    TableColumn("Event", lambda event: redact(format_event(event))),
)
_GAP_COLUMNS = (
    TableColumn("From", lambda gap: format_timestamp(gap.start_at)),
    TableColumn("To", lambda gap: "open" if gap.end_at is None else format_timestamp(gap.end_at)),
    TableColumn("Pane", lambda gap: str(gap.pane), is_right_aligned=True),
    TableColumn("Cause", lambda gap: gap.cause),
    TableColumn("Detail", lambda gap: redact(gap.detail)),
)


def render_report(data: ReportData, period: TimeRange, now: int) -> str:
    """Return the report on a period; data outside of it is omitted."""
    panes = [pane for pane in data.panes if period.overlaps(pane.first_seen_at, pane.gone_at)]
    commands = [c for c in data.commands if period.overlaps(c.started_at, c.ended_at or c.started_at)]
    events = [event for event in data.events if period.contains(event.at)]
    gaps = [gap for gap in data.gaps if gap.cause != UNCERTAIN_TAIL and period.overlaps(gap.start_at, gap.end_at)]
    failed = sum(command.exit_code not in (None, 0) for command in commands)
    begin = "the beginning" if period.since is None else format_timestamp(period.since)
    end = format_timestamp(now if period.until is None else period.until)
    parts = [
        f"# Report from {begin} to {end}",
        f"{pluralize(len(panes), 'pane')}, {pluralize(len(commands), 'command')} ({failed} failed), "
        f"{pluralize(len(events), 'event')}, {pluralize(len(gaps), 'gap')}.",
        *_render_section("Panes", _PANE_COLUMNS, panes),
        *_render_section("Commands", _COMMAND_COLUMNS, commands),
        *_render_section("Events", _EVENT_COLUMNS, events),
        *_render_section("Gaps", _GAP_COLUMNS, gaps),
    ]
    return "\n\n".join(parts)


def _render_section(title: str, columns: Sequence[TableColumn], items: Sequence[object]) -> list[str]:
    note = [f"Only the newest {MAX_REPORT_ITEMS} are listed."] if len(items) >= MAX_REPORT_ITEMS else []
    return [f"## {title}", render_table(columns, items, _MARKDOWN_OPTIONS) if items else "None.", *note]


def _format_seconds(start: int, end: int | None) -> str:
    return "" if end is None else f"{(end - start) / NS:.1f}"
