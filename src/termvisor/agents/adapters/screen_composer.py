"""Find an agent's composer: an input area with a prompt sign between two rules, in a box or at the cursor."""

import re
from collections.abc import Sequence

from termvisor.agents.adapters.screen_dialog import is_sibling_option
from termvisor.agents.adapters.screen_rows import FRAME_ROW, PROMPT_SIGN, RULE, strip_frame, trim_screen_rows
from termvisor.model.terminal.screen import Screen

_BLOCK_EDGE = re.compile(r"\s*[╹▀]▀{6,}.*")
_MAX_FOOTER_ROWS, _MAX_COMPOSER_ROWS = 14, 30


def count_rows_above_composer(screen: Screen) -> int:
    """Return the number of rows above the composer; those above the cursor if there is no composer."""
    span = find_composer(trim_screen_rows(screen), screen)
    return min(screen.cursor_y, span[0]) if span is not None else screen.cursor_y


def find_ruled_span(screen: Screen) -> tuple[int, int] | None:
    """Return the first row around the cursor between two horizontal rules, and the row of the lower rule."""
    rules = [index for index, row in enumerate(screen.rows) if RULE.fullmatch(row.lstrip())]
    upper = max((index for index in rules if index < screen.cursor_y), default=None)
    lower = min((index for index in rules if index > screen.cursor_y), default=None)
    if upper is None or lower is None or lower - upper - 1 > _MAX_COMPOSER_ROWS or screen.cursor_y in rules:
        return None
    return upper + 1, lower


def find_composer(rows: Sequence[str], screen: Screen) -> tuple[int, int] | None:
    """Return the first row of the composer and the row after its last.

    The cursor stands in it, or is hidden below the screen, and only indented rows follow: otherwise another program
    shows a copy of such a screen.
    """
    span = _find_ruled_composer(rows) or _find_barred_composer(rows) or _find_cursor_composer(rows, screen)
    # A hidden cursor stays where the agent drew last: at a corner of the last row, or at the end of a row above.
    is_corner = screen.cursor_x == 0 or screen.cursor_x >= screen.width - 1
    is_parked = screen.cursor_y >= len(rows) - 1 and is_corner
    if span is not None and screen.cursor_y < span[0]:
        is_parked = screen.cursor_x > 0 and screen.cursor_x >= len(rows[screen.cursor_y])
        # Qwen Code counts one row too few while it shows a scroll bar.
        is_parked |= screen.cursor_y == span[0] - 1 and RULE.fullmatch(rows[screen.cursor_y]) is not None
    if span is None or not (span[0] <= screen.cursor_y < span[1] or is_parked):
        return None
    below = [row for row in rows[span[1] :] if row and not FRAME_ROW.fullmatch(row)]
    return span if len(below) <= _MAX_FOOTER_ROWS and all(row.startswith(" ") for row in below) else None


def _find_ruled_composer(rows: Sequence[str]) -> tuple[int, int] | None:
    """Find rows with a prompt sign directly below a rule or the top of a box, and above another rule."""
    edges = [index for index, row in enumerate(rows) if RULE.fullmatch(row)]
    for upper, lower in zip(reversed(edges[:-1]), reversed(edges[1:]), strict=True):
        inside = [strip_frame(row) for row in rows[upper + 1 : lower]]
        first = next((row for row in inside if row.strip()), "")
        is_short = 0 < len(inside) <= _MAX_COMPOSER_ROWS and len(rows) - lower <= _MAX_FOOTER_ROWS + 2
        if is_short and PROMPT_SIGN.match(first) and inside.index(first) <= 2:
            return upper + 1, lower
    return None


def _find_barred_composer(rows: Sequence[str]) -> tuple[int, int] | None:
    """Find rows with a left bar above a block edge."""
    edge = next((index for index in range(len(rows) - 1, -1, -1) if _BLOCK_EDGE.fullmatch(rows[index])), None)
    if edge is None:
        return None
    start = edge
    while start and rows[start - 1].lstrip().startswith("┃"):
        start -= 1
    return (start, edge) if start < edge else None


def _find_cursor_composer(rows: Sequence[str], screen: Screen) -> tuple[int, int] | None:
    """Find the row of the cursor, if it has a prompt sign before the cursor and no option below it."""
    at = screen.cursor_y
    for index in range(min(at, len(rows) - 1), max(-1, at - 12), -1):
        row = strip_frame(rows[index])
        if PROMPT_SIGN.match(row):
            is_before = index < at or screen.cursor_x >= len(row) - len(row.lstrip()) + 1
            following = [strip_frame(one) for one in rows[index + 1 :]]
            # The cursor follows typed text; wrapped rows of it look like options.
            is_typed = index < at < len(rows) and screen.cursor_x == len(rows[at])
            is_option = not is_typed and any(is_sibling_option(row, one) for one in following[:1])
            # Some versions of Codex hide the footer while text is typed; no usual shell prompt has its sign.
            is_last = row.startswith("›") and at == len(rows) - 1 and not any(rows[index - 1 : index])
            has_footer = is_last or any(row.startswith(" ") for row in rows[at + 1 :])
            return (index, at + 1) if is_before and has_footer and not is_option else None
        if not row.startswith(" "):
            return None
    return None
