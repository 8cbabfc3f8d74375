"""Build the rows of the views besides the fleet: inbox, feed, timeline, and any text of an operation. Pure."""

from collections.abc import Iterable, Sequence

from termvisor.clock import NS, parse_timestamp
from termvisor.frontends.tui.row_list import ListRow
from termvisor.frontends.tui.styled_text import StyledPart, strip_controls
from termvisor.model.agent.state import PRECEDENCE, StateName
from termvisor.ops.agents.timeline import StateSpan, TimelineListing
from termvisor.ops.agents.usage_daily import UsageListing
from termvisor.ops.approvals._approval_item import ApprovalItem, format_state
from termvisor.ops.events._event_item import EventItem
from termvisor.ops.events._event_text import describe_event
from termvisor.ops.render.text import format_age

_CELLS: dict[StateName | None, str] = {
    "error": "✗",
    "waiting_approval": "!",
    "waiting_input": "?",
    "running": "█",
    "completed": "✓",
    "idle": "·",
    "unknown": "~",
    None: " ",
}
_NUMBER_WIDTH = 6
_USAGE_BAR_WIDTH = 24


def build_text_rows(text: str, empty: str) -> tuple[ListRow, ...]:
    """Return the lines of an operation's text as rows."""
    lines = [strip_controls(line) for line in text.splitlines()] or [empty]
    return tuple(ListRow(key=("line", number), parts=((f" {line}", ""),)) for number, line in enumerate(lines))


def build_inbox_rows(
    items: Iterable[ApprovalItem], waiting: Sequence[int], closed: Sequence[ApprovalItem]
) -> tuple[ListRow, ...]:
    """Return open requests, panes that wait without one, and what became of the last answers."""
    rows = [_build_request_row(item, "waiting_approval") for item in items]
    rows += [
        ListRow(
            key=("waiting", pane),
            parts=((f"   -  pane {pane} waits for you; its dialog has no request. 1–9 answer it.", "waiting_input"),),
            pane=pane,
        )
        for pane in waiting
    ]
    if not rows:
        rows.append(ListRow(key="empty", parts=((" No agent waits for you.", "dim"),)))
    if closed:
        rows.append(ListRow(key="closed", parts=((" Answered", "heading"),), can_select=False))
        rows += [_build_request_row(item, "dim") for item in reversed(closed)]
    return tuple(rows)


def _build_request_row(item: ApprovalItem, style: str) -> ListRow:
    place = f"pane {item.pane}" if item.pane is not None else "-"
    parts: list[StyledPart] = [
        (f"{item.id:>4}  ", "bold"),
        (f"{place:<9} ", "place"),
        (strip_controls(f"{item.what}  "), style),
    ]
    if item.state != "open":
        parts.append((strip_controls(format_state(item)), "warning" if item.outcome == "failed" else "running"))
    else:
        left = f"{format_age(item.left)} left  " if item.left is not None else ""
        parts.append((strip_controls(f"{left}by {item.by}, risk {item.risk}"), "dim"))
    return ListRow(key=("request", item.id), parts=tuple(parts), pane=item.pane)


def build_feed_row(event: EventItem) -> ListRow:
    severity = event.detection.severity if event.detection is not None else ""
    style = "error" if severity in ("error", "critical") else "warning" if severity == "warning" else ""
    pane = f"{event.pane:>4}" if event.pane is not None else "   -"
    parts = (
        (f" {event.at[11:19]} ", "dim"),
        (f"{pane}  ", "bold"),
        (strip_controls(describe_event(event)), style),
    )
    return ListRow(key=("event", event.cursor), parts=parts, pane=event.pane)


def build_timeline_rows(listing: TimelineListing, usage: UsageListing | None, width: int) -> tuple[ListRow, ...]:
    """Return a bar of states per pane, and tokens and cost per day."""
    start, end = parse_timestamp(listing.start, 0), parse_timestamp(listing.end, 0)
    label_width = _NUMBER_WIDTH + 14
    cells = max(10, width - label_width - 2)
    head = f"{' ' * label_width}{listing.start[11:16]}{'UTC':^{max(3, cells - 10)}}{listing.end[11:16]}"
    rows = [ListRow(key="scale", parts=((head, "dim"),), can_select=False)]
    for item in listing.items:
        bar = _join_cells(build_bar(item.spans, start, end, cells))
        label: StyledPart = (f"{item.identity.id:>{_NUMBER_WIDTH - 1}} {item.agent[:12]:<13} ", "bold")
        rows.append(ListRow(key=("pane", item.identity.id), parts=(label, *bar), pane=item.identity.id))
    if not listing.items:
        rows.append(ListRow(key="empty", parts=((" No agents in the last hours.", "dim"),)))
    legend = "  ".join(f"{_CELLS[state]} {state.replace('_', ' ')}" for state in PRECEDENCE)
    rows.append(ListRow(key="legend", parts=((f" {legend}", "dim"),), can_select=False))
    return (*rows, *(_build_usage_rows(usage) if usage is not None else ()))


def build_bar(spans: Sequence[StateSpan], start: int, end: int, width: int) -> list[StateName | None]:
    """Return the state of each cell: of several, the one that needs a person most."""
    cells: list[StateName | None] = [None] * width
    scale = width / max(1, end - start)
    for span in spans:
        begin = parse_timestamp(span.start, 0)
        first = int((begin - start) * scale)
        last = int((begin + int(span.seconds * NS) - start) * scale)
        for cell in range(max(0, first), min(width, max(last, first + 1))):
            known = cells[cell]
            if known is None or PRECEDENCE.index(span.state) < PRECEDENCE.index(known):
                cells[cell] = span.state
    return cells


def _join_cells(cells: Sequence[StateName | None]) -> list[StyledPart]:
    parts: list[StyledPart] = []
    for state in cells:
        style = state or ""
        if parts and parts[-1][1] == style:
            parts[-1] = parts[-1][0] + _CELLS[state], style
        else:
            parts.append((_CELLS[state], style))
    return parts


def _build_usage_rows(usage: UsageListing) -> list[ListRow]:
    rows = [ListRow(key="usage", parts=((" Tokens and cost by day", "heading"),), can_select=False)]
    most = max((day.tokens or 0 for day in usage.items), default=0)
    for day in usage.items:
        bar = "█" * round(_USAGE_BAR_WIDTH * (day.tokens or 0) / most) if most else ""
        tokens = f"{day.tokens:,}" if day.tokens is not None else "unknown"
        cost = f"{'~' * day.cost_is_estimated}${day.cost:.2f}" if day.cost is not None else "-"
        parts = ((f" {day.day} ", "bold"), (f"{bar:<{_USAGE_BAR_WIDTH}} ", "running"), (f"{tokens} tokens  {cost}", ""))
        rows.append(ListRow(key=("day", day.day), parts=parts))
    return rows
