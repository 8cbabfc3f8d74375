"""Order, filter, group and fold panes into the rows of the fleet view. Pure.

Order: who needs a person first, longest waiting first; then agents; then panes without an agent.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from termvisor.clock import NS, parse_timestamp
from termvisor.frontends.tui.row_list import ListRow
from termvisor.frontends.tui.styled_text import StyledPart, strip_controls
from termvisor.model.agent.attention import NEED_KINDS_BY_URGENCY
from termvisor.model.agent.state import PRECEDENCE, StateName
from termvisor.ops.panes._pane_brief import PaneBrief
from termvisor.ops.render.text import format_age, measure_width, pluralize, shorten

FleetGrouping = Literal["flat", "target-session", "session-name"]
GROUPINGS: tuple[FleetGrouping, ...] = ("flat", "target-session", "session-name")
STATE_FILTERS: dict[str, tuple[StateName, ...]] = {
    "!": ("error",),
    "@": ("waiting_approval", "waiting_input"),
    "#": ("idle", "completed"),
    "&": ("running",),
}
SIGNS: dict[str | None, str] = {
    "error": "✗",
    "waiting_approval": "!",
    "waiting_input": "?",
    "running": "▶",
    "completed": "✓",
    "idle": "·",
    "unknown": "~",
    None: " ",
}
"""A sign per state, because a colour alone is not visible to all."""
_FOLDED: dict[str, str] = {"idle": "idle", "unknown": "unknown", "shell": "at a prompt"}
_COARSE_AGE_S = 5
"""Ages below a minute change every five seconds only: each change paints a row."""


class FleetOptions(Struct, frozen=True, kw_only=True):
    """What the user chose. ``only`` is a key of `STATE_FILTERS`; ``opened`` are folds, ``closed`` groups."""

    grouping: FleetGrouping = "flat"
    text: str = ""
    only: str = ""
    opened: frozenset[Hashable] = frozenset()
    closed: frozenset[Hashable] = frozenset()
    marked: frozenset[int] = frozenset()


def order_briefs(briefs: Iterable[PaneBrief]) -> list[PaneBrief]:
    return sorted(briefs, key=_rank_brief)


def _rank_brief(brief: PaneBrief) -> tuple[int, int, str, int]:
    if brief.needs_action or brief.requests:
        urgency = NEED_KINDS_BY_URGENCY.index(brief.needs) if brief.needs is not None else 0
        return 0, urgency, brief.since or "", brief.id
    if brief.state is not None:
        return 1, PRECEDENCE.index(brief.state), "", brief.id
    return 2, 0 if brief.activity == "command" else 1, "", brief.id


def list_needing(briefs: Iterable[PaneBrief]) -> list[int]:
    """Return the panes that need a person, most urgent first."""
    return [brief.id for brief in order_briefs(briefs) if brief.needs_action or brief.requests]


def matches_options(brief: PaneBrief, options: FleetOptions) -> bool:
    if options.only and brief.state not in STATE_FILTERS[options.only]:
        return False
    if not options.text:
        return True
    place = f"{brief.target} {brief.session}:{brief.window} {brief.pane_id} {brief.id}"
    state = (brief.state or brief.activity).replace("_", " ")
    text = f"{place} {brief.agent or ''} {state} {brief.title} {brief.command} {brief.command_line} {brief.cwd}"
    return all(word in text.lower() for word in options.text.lower().split())


def build_fleet_rows(ordered: Sequence[PaneBrief], options: FleetOptions, now: int, width: int) -> tuple[ListRow, ...]:
    """Return the rows of these panes, which are in display order."""
    shown = [brief for brief in ordered if matches_options(brief, options)]
    if options.grouping == "flat":
        return tuple(_build_folded_rows(shown, options, now, width))
    rows: list[ListRow] = []
    levels = 3 if options.grouping == "target-session" else 2
    _add_groups(rows, shown, options, (now, width), ((), levels))
    return tuple(rows)


def _build_folded_rows(briefs: Sequence[PaneBrief], options: FleetOptions, now: int, width: int) -> Iterable[ListRow]:
    """Yield the rows; panes that do nothing are one row per kind, until it is opened."""
    is_folding = not (options.text or options.only)
    folded: Counter[str] = Counter(fold for one in briefs if is_folding and (fold := find_fold(one)))
    # A single quiet pane takes no more room than its fold.
    folds = {fold for fold, count in folded.items() if count > 1}
    seen: set[str] = set()
    for brief in briefs:
        fold = find_fold(brief)
        if fold not in folds:
            yield build_pane_row(brief, options, now, width)
            continue
        if fold not in seen:
            seen.add(fold)
            is_open = fold in options.opened
            text = f"{'▾' if is_open else '▸'} {folded[fold]} {_FOLDED[fold]}"
            yield ListRow(key=("fold", fold), parts=((f"      {text}", "dim"),))
        if fold in options.opened:
            yield build_pane_row(brief, options, now, width)


def find_fold(brief: PaneBrief) -> str:
    """Return the fold of a pane that does nothing and needs no person; empty for any other."""
    if brief.needs_action or brief.requests:
        return ""
    if brief.state in ("idle", "unknown"):
        return brief.state
    return "shell" if brief.state is None and brief.activity == "prompt" and not brief.last_exit else ""


def _add_groups(
    rows: list[ListRow],
    briefs: Sequence[PaneBrief],
    options: FleetOptions,
    view: tuple[int, int],
    place: tuple[tuple[str, ...], int],
) -> None:
    """Add the groups of one level, each with a heading, and the panes of the last level."""
    path, levels = place
    depth = len(path)
    if depth == levels:
        rows += [build_pane_row(brief, options, *view, indent=depth) for brief in briefs]
        return
    groups: dict[str, list[PaneBrief]] = {}
    for brief in briefs:
        names = (brief.target, brief.session, brief.window)[3 - levels :]
        groups.setdefault(names[depth], []).append(brief)
    for name, members in groups.items():
        key = (*path, name)
        is_open = key not in options.closed
        # One target or one window needs no heading of its own.
        if not (len(groups) == 1 and depth == 0 and levels == 3) and not (depth == levels - 1 and len(members) == 1):
            rows.append(_build_heading(key, name, members, is_open, depth))
        if is_open:
            _add_groups(rows, members, options, view, (key, levels))


def _build_heading(key: tuple[str, ...], name: str, members: Sequence[PaneBrief], is_open: bool, depth: int) -> ListRow:
    states = [member.state for member in members if member.state is not None]
    top = min(states, key=PRECEDENCE.index, default=None)
    waiting = sum(member.needs_action or bool(member.requests) for member in members)
    counts = [f"{waiting} need you"] * bool(waiting) + [f"{states.count('running')} running"] * ("running" in states)
    text = ", ".join([*counts, f"{len(members)} panes" if len(members) != 1 else "1 pane"])
    parts: tuple[StyledPart, ...] = (
        (f"{'  ' * depth}{'▾' if is_open else '▸'} ", "dim"),
        (f"{SIGNS[top]} ", top or ""),
        (strip_controls(name), "bold"),
        (f"  {text}", "dim"),
    )
    return ListRow(key=("group", *key), parts=parts)


def build_pane_row(brief: PaneBrief, options: FleetOptions, now: int, width: int, indent: int = 0) -> ListRow:
    """Return the row of a pane: id, sign, state, age, agent, place and title, as far as there is room."""
    state, style = format_state(brief), brief.state or ""
    mark = "*" if brief.id in options.marked else " "
    agent = brief.agent or brief.command
    place = f"{brief.session}:{brief.window}"
    parts: list[StyledPart] = [
        ("  " * max(0, indent - 1) + mark, "warning"),
        (f"{brief.id:>4} ", "bold"),
        (f"{SIGNS[brief.state]} ", style),
        (_fill_text(state, 18), style),
        (f" {format_coarse_age(brief.since, now):>4} ", "dim"),
    ]
    room = width - 32 - 2 * max(0, indent - 1)
    for text, size, name in ((agent, 12, ""), (place, 16, "place")):
        if room > size:
            parts.append((_fill_text(strip_controls(text), size) + " ", name))
            room -= size + 1
    flags = f"[{', '.join(brief.flags)}] " if brief.flags else ""
    parts.append((strip_controls(flags + (brief.title or brief.cwd)), "warning" if flags else ""))
    return ListRow(key=brief.id, parts=tuple(parts), pane=brief.id)


def format_state(brief: PaneBrief) -> str:
    """Return what the pane does: the state of its agent, else its command line or activity."""
    if brief.state is not None:
        reason = f" ({brief.reason.replace('_', ' ')})" if brief.reason is not None else ""
        return brief.state.replace("_", " ") + reason
    if brief.is_dead:
        return "dead"
    if brief.activity == "command":
        return strip_controls(f"$ {brief.command_line}") if brief.command_line else "command"
    return f"prompt ({brief.last_exit})" if brief.last_exit else brief.activity.replace("_", " ")


def format_coarse_age(since: str | None, now: int) -> str:
    if since is None:
        return ""
    seconds = max(0, (now - parse_timestamp(since, now)) // NS)
    return format_age(seconds if seconds >= 60 else seconds - seconds % _COARSE_AGE_S)


def _fill_text(text: str, width: int) -> str:
    short = shorten(text, width)
    return short + " " * (width - measure_width(short))


def summarize_fleet(briefs: Mapping[int, PaneBrief]) -> list[StyledPart]:
    """Return the header: panes, agents, those that need a person, and the states."""
    states = Counter(brief.state for brief in briefs.values() if brief.state is not None)
    needing = sum(brief.needs_action or bool(brief.requests) for brief in briefs.values())
    agents = sum(states.values())
    parts: list[StyledPart] = [(f" {pluralize(len(briefs), 'pane')} · {pluralize(agents, 'agent')}", "bold")]
    parts.append((f" · {needing} need{'s' * (needing == 1)} you", "waiting_approval" if needing else "dim"))
    targets = len({brief.target for brief in briefs.values()})
    counts = [f"{states[name]} {name.replace('_', ' ')}" for name in PRECEDENCE if states[name]]
    if targets > 1:
        counts.append(f"{targets} targets")
    return [*parts, (" · " + " · ".join(counts) if counts else "", "dim")]
