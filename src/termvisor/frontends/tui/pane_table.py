"""Lay out the live table of `visor up`: order, filter and paint the panes. Pure.

Invariants: no row is wider and no screen higher than the terminal; on a short screen, header and footer are dropped
before panes; the footer always says how to leave.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from termvisor.ops.approvals._approval_item import ApprovalItem
from termvisor.ops.panes.list_panes import PaneItem, PaneListing, choose_columns, format_activity
from termvisor.ops.render.table import render_table
from termvisor.ops.render.text import RenderOptions, measure_width, pluralize, sanitize, shorten, wrap_lines

HELP_ROWS = (
    "Enter          go to the selected pane: in your tmux client, or attached here (C-b d: back)",
    "a, d           approve or deny what the selected agent asks, after a confirmation",
    "/              show only panes that contain a text; Escape shows all again",
    "arrows, j, k   select; PgUp, PgDn, g, G move further",
    "?              show or hide this help",
    "q              quit; the daemon keeps running until `visor down`",
)
_KEY_HINTS = ("q quits", "? keys", "Enter goes there", "/ filters")
_MARK, _NO_MARK = "> ", "  "


class TableView(Struct, frozen=True, kw_only=True):
    """What one refresh fetched: the cost line, the summary, panes in order, and the open request of each pane."""

    head: str = ""
    summary: str = ""
    panes: tuple[PaneItem, ...] = ()
    requests: Mapping[int, ApprovalItem] = {}
    empty: str = ""
    problem: str = ""
    """Replaces the cost line."""

    def filter(self, text: str) -> tuple[PaneItem, ...]:
        """Return the panes whose place, agent, state, title or folder contains the text."""
        return tuple(pane for pane in self.panes if text.lower() in _join_searchable(pane).lower())


class TableState(Struct, frozen=True, kw_only=True):
    """What the user has done: the selected pane, the first visible row, the filter, and what is shown over the table.

    ``message`` is the result of the last key. ``question`` is the request that waits for `y` or `n`.
    """

    selected: int | None = None
    top: int = 0
    filter: str = ""
    is_typing: bool = False
    is_help: bool = False
    message: str = ""
    question: ApprovalItem | None = None
    answer: str = ""


def sort_panes(listing: PaneListing, requests: Mapping[int, ApprovalItem]) -> tuple[PaneItem, ...]:
    """Return the panes: those that need the user, longest waiting first; then agents; then the others."""

    def rank(pane: PaneItem) -> tuple[int, float, int]:
        number = pane.identity.id
        if pane.needs_action or number in requests:
            return 0, -(pane.state_age or 0.0), number
        return (1 if pane.agent else 2), 0.0, number

    return tuple(sorted(listing.items, key=rank))


def _join_searchable(pane: PaneItem) -> str:
    identity = pane.identity
    parts = (f"{identity.session_name}:{pane.window_name}", pane.agent or "", format_activity(pane), pane.agent_title)
    return " ".join([str(identity.id), *parts, pane.title, pane.command, pane.cwd])


def select_row(panes: Sequence[PaneItem], state: TableState, key: str, page_size: int) -> tuple[int | None, int]:
    """Return the selected pane and the first visible row after a key. The selection follows its pane, not its row."""
    if not panes:
        return None, 0
    numbers = [pane.identity.id for pane in panes]
    index = numbers.index(state.selected) if state.selected in numbers else 0
    moves = {"up": -1, "down": 1, "page_up": -page_size, "page_down": page_size, "home": -len(panes), "end": len(panes)}
    index = max(0, min(index + moves.get(key, 0), len(panes) - 1))
    top = state.top + (moves[key] if key.startswith("page") else 0)
    # The selected row is always visible, and there are no empty rows below the last pane.
    top = max(min(top, index, len(panes) - page_size), index - page_size + 1, 0)
    return numbers[index], top


def count_visible_rows(view: TableView, state: TableState, width: int, height: int) -> int:
    """Return the number of pane rows that fit."""
    used = len(_compose_header(view, "", height)) + len(_compose_footer(view, state, 0, width, height))
    return max(1, height - used)


def compose_rows(view: TableView, state: TableState, options: RenderOptions, height: int) -> list[str]:
    """Return the rows of the screen."""
    width = options.width
    if state.is_help:
        return _fill_screen(
            wrap_lines("\n".join(HELP_ROWS), width).split("\n"), ["q quits, any other key returns"], height
        )
    panes = view.filter(state.filter)
    footer = _compose_footer(view, state, len(panes), width, height)
    if not panes:
        empty = "No pane contains this text." if state.filter and view.panes else view.empty
        return _fill_screen([view.problem or view.head, "", *wrap_lines(empty, width).split("\n")], footer, height)
    title, *rows = render_table(choose_columns(panes), panes, _build_table_options(options)).split("\n")
    page_size = count_visible_rows(view, state, width, height)
    marked = [
        _paint_selected(row, options) if pane.identity.id == state.selected else _NO_MARK + row
        # A last line of the table counts dropped columns; there is no option for them here.
        for pane, row in zip(panes, rows, strict=False)
    ]
    shown = marked[state.top : state.top + page_size]
    return _fill_screen([*_compose_header(view, _NO_MARK + title, height), *shown], footer, height)


def _build_table_options(options: RenderOptions) -> RenderOptions:
    # The mark of the selected row stands before the table.
    return RenderOptions(
        width=max(1, options.width - len(_MARK)), colour=options.colour, now=options.now, home=options.home
    )


def _paint_selected(row: str, options: RenderOptions) -> str:
    text = _MARK + sanitize(row)
    pad = " " * (options.width - measure_width(text))
    return f"\x1b[7m{text}{pad}\x1b[0m" if options.colour else text


def _fill_screen(rows: list[str], footer: list[str], height: int) -> list[str]:
    rows = rows[: max(0, height - len(footer))]
    return [*rows, *[""] * (height - len(footer) - len(rows)), *footer][:height]


def _compose_header(view: TableView, title: str, height: int) -> list[str]:
    rows = [view.problem or view.head, "", title] if height >= 8 else [view.problem or title]
    return rows if height >= 3 else []


def _compose_footer(view: TableView, state: TableState, count: int, width: int, height: int) -> list[str]:
    if height < 5:
        return []
    if state.question is not None:
        text = f"{describe_request(state.question)}\n{state.answer} request {state.question.id}? y or n"
        # The question is never cut silently: its first lines and the keys stay.
        lines = wrap_lines(text, width).split("\n")
        return lines if len(lines) <= height - 4 else [*lines[: height - 6], "…", lines[-1]]
    if state.is_typing:
        return [shorten(f"/{state.filter}_   {count} found; Enter keeps the filter, Escape ends it", width)]
    about = state.message
    if not about and (request := view.requests.get(state.selected or 0)) is not None:
        about = f"{_describe_what(request)} (a approves, d denies)"
    footer = _compose_key_hints(_summarize(view, state, count), width)
    return [*(wrap_lines(about, width).split("\n")[:3] if about else []), footer]


def _compose_key_hints(summary: str, width: int) -> str:
    """Return the summary and as many hints as fit: how to leave first, and who needs the user before other keys."""
    for number in range(len(_KEY_HINTS), 0, -1):
        if measure_width(text := "   ".join([summary, *_KEY_HINTS[:number]])) <= width:
            return text
    return shorten("   ".join(_KEY_HINTS), width)


def _summarize(view: TableView, state: TableState, count: int) -> str:
    needing = sum(pane.needs_action or pane.identity.id in view.requests for pane in view.panes)
    found = f"{count} of " if state.filter else ""
    need = f", {needing} need{'s' * (needing == 1)} you" if needing else ""
    return f"{found}{pluralize(len(view.panes), 'pane')}{need}"


def describe_request(request: ApprovalItem) -> str:
    """Describe a request in full, for the person who answers it: what, where and why."""
    reasons = [f"  why    {reason}" for reason in request.why]
    return "\n".join([_describe_what(request), f"  where  {request.place or 'no pane'}", *reasons])


def _describe_what(request: ApprovalItem) -> str:
    # Rows of a dialog are padded with spaces, which would be taken for columns.
    return " ".join(f"request {request.id}: {request.what}".split())
