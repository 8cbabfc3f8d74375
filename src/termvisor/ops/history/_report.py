"""What happened in a range of time, as Markdown: panes, commands, events, gaps. Pure.

Invariant: no cell can leave its cell: whatever came from a pane is redacted, cleaned and escaped.
"""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.clock import NS, iso
from termvisor.model.event import Event
from termvisor.model.terminal.command import Command
from termvisor.model.terminal.output import Gap
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.history._asciicast import told
from termvisor.ops.render.text import Column, Look, counted, table
from termvisor.redaction import redact

MOST = 10_000
"""A report lists so many commands and events at most, the newest ones."""
_MARKDOWN = Look(width=0, form="markdown")


class Range(Struct, frozen=True, kw_only=True):
    """``since`` is open where nothing older is left out."""

    since: int | None
    until: int

    def holds(self, at: int | None) -> bool:
        return at is not None and (self.since or 0) <= at <= self.until

    def meets(self, start: int, end: int | None) -> bool:
        return start <= self.until and (end is None or end >= (self.since or 0))


class Material(Struct, frozen=True, kw_only=True):
    """All that a report tells."""

    panes: Sequence[PaneView]
    commands: Sequence[Command]
    events: Sequence[Event]
    gaps: Sequence[Gap]


_PANES = (
    Column("Pane", lambda pane: str(pane.id), is_right=True),
    Column("Session", lambda pane: redact(pane.facts.session_name)),
    Column("Program", lambda pane: redact(pane.facts.command)),
    Column("First seen", lambda pane: iso(pane.first_seen_at)),
    Column("Last output", lambda pane: _instant(pane.last_output_at)),
    Column("Gone", lambda pane: _instant(pane.gone_at)),
    Column("Lines", lambda pane: str(pane.lines), is_right=True),
    Column("Gaps", lambda pane: str(pane.gaps), is_right=True),
)
_COMMANDS = (
    Column("Started", lambda command: iso(command.started_at)),
    Column("Pane", lambda command: str(command.pane), is_right=True),
    Column(
        "Exit", lambda command: command.status if command.exit_code is None else str(command.exit_code), is_right=True
    ),
    Column("Seconds", lambda command: _seconds(command.started_at, command.ended_at), is_right=True),
    Column("Folder", lambda command: redact(command.cwd or "")),
    Column("Command", lambda command: redact(command.line or "?")),
)
_EVENTS = (
    Column("When", lambda event: iso(event.at)),
    Column("Pane", lambda event: "" if event.pane is None else str(event.pane), is_right=True),
    Column("What", lambda event: redact(told(event))),
)
_GAPS = (
    Column("From", lambda gap: iso(gap.start_at)),
    Column("To", lambda gap: "still open" if gap.end_at is None else iso(gap.end_at)),
    Column("Pane", lambda gap: str(gap.pane), is_right=True),
    Column("Cause", lambda gap: gap.cause),
    Column("Detail", lambda gap: redact(gap.detail)),
)


def report(material: Material, span: Range) -> str:
    """The whole text; what lies outside the range is left out."""
    panes = [pane for pane in material.panes if span.meets(pane.first_seen_at, pane.gone_at)]
    commands = [one for one in material.commands if span.meets(one.started_at, one.ended_at or one.started_at)]
    events = [event for event in material.events if span.holds(event.at)]
    gaps = [gap for gap in material.gaps if span.meets(gap.start_at, gap.end_at)]
    failed = sum(command.exit_code not in (None, 0) for command in commands)
    begin = "the beginning" if span.since is None else iso(span.since)
    parts = [
        f"# What happened from {begin} to {iso(span.until)}",
        f"{counted(len(panes), 'pane')}, {counted(len(commands), 'command')} ({failed} failed), "
        f"{counted(len(events), 'event')}, {counted(len(gaps), 'gap')}.",
        *_section("Panes", _PANES, panes),
        *_section("Commands", _COMMANDS, commands),
        *_section("Events", _EVENTS, events),
        *_section("Gaps", _GAPS, gaps),
    ]
    return "\n\n".join(parts)


def _section(title: str, columns: Sequence[Column], items: Sequence[object]) -> list[str]:
    cut = [f"Only the newest {MOST} are listed."] if len(items) >= MOST else []
    return [f"## {title}", table(columns, items, _MARKDOWN) if items else "None.", *cut]


def _seconds(start: int, end: int | None) -> str:
    return "" if end is None else f"{(end - start) / NS:.1f}"


def _instant(at: int | None) -> str:
    return "" if at is None else iso(at)
