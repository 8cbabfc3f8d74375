"""Show what an agent asks: its dialog as it stands on the screen, its own options, the evidence and the age. Pure."""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.frontends.tui.fleet_rows import format_coarse_age, format_state
from termvisor.frontends.tui.row_list import ListRow
from termvisor.frontends.tui.styled_text import StyledPart, strip_controls
from termvisor.ops.approvals._approval_item import ApprovalItem
from termvisor.ops.panes._pane_brief import PaneBrief
from termvisor.ops.render.text import format_age

_OPTION = re.compile(r"^[\s│┃|❯›>▶→*●○•]*([1-9])[.)]\s+(\S.*?)[\s│┃|]*$")
_MAX_DIALOG_ROWS = 8


class ShownOption(Struct, frozen=True):
    """An option as the dialog shows it: its number, its text, and the row on which it stands."""

    digit: str
    label: str
    row: int


def find_options(rows: Sequence[str]) -> list[ShownOption]:
    """Return the numbered options of the last dialog on a screen; empty if there are not at least two."""
    found: list[ShownOption] = []
    for number, text in enumerate(rows):
        if (match := _OPTION.match(text)) is None:
            continue
        option = ShownOption(match[1], strip_controls(match[2]), number)
        # Numbering that starts again, or is far below, belongs to another list.
        if int(option.digit) == 1:
            found = [option]
        elif found and int(option.digit) == len(found) + 1 and option.row - found[-1].row <= 4:
            found.append(option)
    return found if len(found) >= 2 else []


def build_dialog_rows(
    brief: PaneBrief, request: ApprovalItem | None, screen: Sequence[str], now: int, *, shows_screen: bool
) -> tuple[ListRow, ...]:
    """Return the rows of the panel: who asks what, the dialog, its options and why it is asked.

    ``shows_screen`` adds the rows of the dialog, where the screen itself is not shown beside.
    """
    options = find_options(screen)
    lines: list[tuple[StyledPart, ...]] = [_build_head(brief, request)]
    if shows_screen and options:
        start = max(0, options[0].row - (_MAX_DIALOG_ROWS - len(options)))
        texts = [strip_controls(row).strip() for row in screen[start : options[-1].row + 1]]
        lines += [((f"  {text}", ""),) for text in texts if text]
    else:
        lines += _build_option_lines(options)
    lines.append(_build_evidence(brief, request, now))
    if request is not None and request.why:
        lines.append(((strip_controls(f"   asked because: {'; '.join(request.why)}"), "dim"),))
    return tuple(ListRow(key=index, parts=parts) for index, parts in enumerate(lines))


def _build_head(brief: PaneBrief, request: ApprovalItem | None) -> tuple[StyledPart, ...]:
    agent, what = brief.agent or brief.command, ""
    if request is not None:
        what = request.what.removeprefix(f"accept the dialog of {agent}: ")
    return (
        (f" ! {brief.id} {agent} ", "waiting_approval"),
        (strip_controls(f"asks: {what}" if what else f"is {format_state(brief)}"), "bold"),
    )


def _build_option_lines(options: Sequence[ShownOption]) -> list[tuple[StyledPart, ...]]:
    if not options:
        return []
    parts: list[StyledPart] = [("   ", "")]
    for option in options:
        parts += [(f"{option.digit} ", "waiting_approval"), (f"{option.label}   ", "")]
    return [tuple(parts)]


def _build_evidence(brief: PaneBrief, request: ApprovalItem | None, now: int) -> tuple[StyledPart, ...]:
    known = f"evidence: {brief.source or 'nothing'} ({brief.evidence_mode})"
    age = f"for {format_coarse_age(brief.since, now)}" if brief.since else ""
    left = f"{format_age(request.left)} left, then denied" if request is not None and request.left is not None else ""
    number = f"request {request.id}" if request is not None else "no open request"
    return (("   " + " · ".join(strip_controls(text) for text in (age, number, left, known) if text), "dim"),)
