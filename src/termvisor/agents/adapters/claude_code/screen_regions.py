"""The parts of Claude Code's screen: where the composer stands, what was said last above it, what is below.

    ● The last words of the turn, or a dialog that stands in for all below
    ✻ Churned for 13s · done 7:42 PM          the last block: a row at the margin, and all that is indented under it
    ──────────────────────────────
    ❯ what is being written                   the composer, between two rules
    ──────────────────────────────
      ⏸ manual mode on · esc to interrupt     the footer: indented rows, and nothing below them

A picture of such a screen in another program has that program's own rows below it, so it has no parts.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.screen_classifier import ScreenRegions, trim_rows
from termvisor.model.terminal.screen import Screen

HORIZONTAL_RULE = re.compile(r"─{12}")
DIALOG_EDGE = re.compile(r"[─▔]{7}")
"""How a dialog begins; hints may stand in the middle of the line."""
OPTION_POINTER = re.compile(r" {0,6}❯ ")
_EXIT_HINT = re.compile(r" {1,4}(?:\S.* · )?Esc to (?:cancel|exit|close)$")
_COMPOSER_SIGN = re.compile(r"[❯!]")
_MAX_FOOTER_ROWS = 14
_MAX_COMPOSER_ROWS = 30
_TURN_END_ROW = re.compile(r"[·✢✳✶✻✽*∗] \S+ for [\dhms ]+ · done\b")
"""The row that tells a turn's end: `✻ Churned for 13s · done 7:42 PM`. The verb is another each time."""
_HINT_INDENT = 8
"""Rows that begin so far to the right are hints at the edge, no words of the conversation."""


class ClaudeScreenLayout(Struct, frozen=True, kw_only=True):
    """``composer`` is None where there is none; then ``dialog`` may stand in its place. Rows are without blank ones."""

    composer: tuple[str, ...] | None = None
    footer: tuple[str, ...] = ()
    dialog: tuple[str, ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()
    """What was said last, the last first; at most three."""


EMPTY_LAYOUT = ClaudeScreenLayout()


def parse_layout(screen: Screen) -> ClaudeScreenLayout:
    rows = trim_rows(screen.rows)
    lower = _find_lower_rule(rows)
    upper = _find_upper_rule(rows, lower) if lower is not None else None
    if lower is None or upper is None:
        return ClaudeScreenLayout(dialog=_find_dialog(rows))
    footer = tuple(filter(None, rows[lower + 1 :]))
    composer = tuple(rows[upper + 1 : lower])
    return ClaudeScreenLayout(composer=composer, footer=footer, blocks=_collect_blocks(rows[:upper]))


def split_regions(screen: Screen) -> ScreenRegions:
    """``hint`` is a dialog's last row, ``question`` the one that asks. ``block`` is the last, ``head`` its first row;
    ``outcome`` is what stands before the row that tells a turn's end, or the block where there is none.
    """
    found = parse_layout(screen)
    block = found.blocks[0] if found.blocks else ()
    return {
        "dialog": found.dialog,
        "hint": found.dialog[-1:],
        "question": _find_question(found.dialog),
        "head": block[:1],
        "block": block,
        "outcome": [row for part in _find_outcome_blocks(found.blocks) for row in part],
        "footer": found.footer,
    }


def _find_outcome_blocks(blocks: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """Of the last turn at most: what was before its prompt is another one's."""
    if not blocks or not _TURN_END_ROW.match(blocks[0][0]):
        return blocks[:1]
    is_prompt = len(blocks) > 1 and blocks[1][0].startswith("❯")
    return blocks[1:2] if is_prompt else blocks[1:3]


def _find_question(rows: Sequence[str]) -> Sequence[str]:
    asking = [row for row in rows if row.endswith("?")] or [row for row in rows if "? " in row] or rows[:1]
    return [row.strip()[:200] for row in asking[-1:]]


def _find_lower_rule(rows: Sequence[str]) -> int | None:
    """The rule under the composer: below it are only indented rows."""
    for number in range(len(rows) - 1, max(-1, len(rows) - 2 - _MAX_FOOTER_ROWS), -1):
        if HORIZONTAL_RULE.match(rows[number]):
            return number
        if rows[number] and not rows[number].startswith("  "):
            return None
    return None


def _find_upper_rule(rows: Sequence[str], lower: int) -> int | None:
    """The rule over the composer, whose first row has the prompt's sign and whose others are indented."""
    for number in range(lower - 1, max(-1, lower - 2 - _MAX_COMPOSER_ROWS), -1):
        if _COMPOSER_SIGN.match(rows[number]):
            return number - 1 if number > 0 and HORIZONTAL_RULE.match(rows[number - 1]) else None
        if rows[number] and not rows[number].startswith("  "):
            return None
    return None


def _find_dialog(rows: Sequence[str]) -> tuple[str, ...]:
    """From the line over the option that is pointed at to the end of the screen; empty where nothing is."""
    pointed = next((number for number in range(len(rows) - 1, -1, -1) if OPTION_POINTER.match(rows[number])), 0)
    first = next((number for number in range(pointed - 1, -1, -1) if DIALOG_EDGE.match(rows[number])), None)
    if first is None and any(_EXIT_HINT.match(row) for row in rows[-1:]):  # a page that offers no choice
        first = next((number for number in range(len(rows) - 1, -1, -1) if DIALOG_EDGE.match(rows[number])), None)
    return () if first is None else tuple(filter(None, rows[first + 1 :]))


def _collect_blocks(rows: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    block: list[str] = []
    for row in reversed(rows):
        if not row or row.startswith(" " * _HINT_INDENT):
            continue
        block.insert(0, row)
        if not row.startswith(" "):
            found.append(tuple(block))
            block = []
        if len(found) == 3:
            break
    return tuple(found)
