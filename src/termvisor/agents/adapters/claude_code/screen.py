"""Split Claude Code screens into regions: the last blocks of the conversation, the composer, the footer, or a dialog.

    ● The last text of the turn, or a dialog in place of everything below
    ✻ Churned for 13s · done 7:42 PM          the last block: a row at the margin and the indented rows below it
    ──────────────────────────────
    ❯ text being written                      the composer, between two horizontal rules
    ──────────────────────────────
      ⏸ manual mode on · esc to interrupt     the footer: indented rows, and nothing below them

A copy of such a screen in another program has that program's rows below it, so it has no regions. A dialog counts only
if it replaces the composer and nothing is below it, so that quoted text, a transcript in a pager, or the last screen of
an exited agent above a shell prompt is not mistaken for one.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.error_classifier import find_zoned_reset_time
from termvisor.agents.adapters.screen_classifier import ScreenClassifier, trim_rows
from termvisor.agents.adapters.screen_structure import ScreenRegions
from termvisor.model.terminal.screen import Screen

HORIZONTAL_RULE = re.compile(r"─{12}")
# First row of a dialog. The line may contain hints in the middle.
DIALOG_EDGE = re.compile(r"[─▔]{7}")
OPTION_POINTER = re.compile(r" {0,6}❯ ")
_EXIT_HINT = re.compile(r" {1,4}(?:\S.* · )?Esc to (?:cancel|exit|close)$")
_COMPOSER_SIGN = re.compile(r"[❯>!]")
_MAX_FOOTER_ROWS = 14
_MAX_COMPOSER_ROWS = 30
# The row at the end of a turn: `✻ Churned for 13s · done 7:42 PM`. The verb varies, and older versions name no time.
_TURN_END_ROW = re.compile(r"[·✢✳✶✻✽*∗] \S+ for [\dhms ]+(?: · done\b|$)")
# Rows with at least this indentation are hints at the right edge, not part of the conversation.
_HINT_INDENT = 8


class ClaudeScreenLayout(Struct, frozen=True, kw_only=True):
    """The non-blank rows of each region. If ``composer`` is None, a ``dialog`` may be in its place."""

    composer: tuple[str, ...] | None = None
    footer: tuple[str, ...] = ()
    dialog: tuple[str, ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()
    """The last three blocks of the conversation, newest first."""


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
    """Return the regions that rules may refer to.

    ``hint`` is the last row of a dialog and ``question`` its question. ``block`` is the last block and ``head`` its
    first row; ``outcome`` is the text before the turn-end row, or the last block if there is no such row.
    """
    layout = parse_layout(screen)
    block = layout.blocks[0] if layout.blocks else ()
    return {
        "dialog": layout.dialog,
        "hint": layout.dialog[-1:],
        "question": _find_question(layout.dialog),
        "head": block[:1],
        "block": block,
        "outcome": [row for rows in _find_outcome_blocks(layout.blocks) for row in rows],
        "footer": layout.footer,
    }


def _find_outcome_blocks(blocks: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """Return only the blocks of the last turn. Those before its prompt belong to the previous turn."""
    if not blocks or not _TURN_END_ROW.match(blocks[0][0]):
        return blocks[:1]
    is_prompt = len(blocks) > 1 and blocks[1][0].startswith(("❯", ">"))
    return blocks[1:2] if is_prompt else blocks[1:3]


def _find_question(rows: Sequence[str]) -> Sequence[str]:
    questions = [row for row in rows if row.endswith("?")] or [row for row in rows if "? " in row] or rows[:1]
    return [row.strip()[:200] for row in questions[-1:]]


def _find_lower_rule(rows: Sequence[str]) -> int | None:
    """Return the index of the rule below the composer; only indented rows may follow it."""
    for index in range(len(rows) - 1, max(-1, len(rows) - 2 - _MAX_FOOTER_ROWS), -1):
        if HORIZONTAL_RULE.match(rows[index]):
            return index
        if rows[index] and not rows[index].startswith("  "):
            return None
    return None


def _find_upper_rule(rows: Sequence[str], lower: int) -> int | None:
    """Return the index of the rule above the composer, whose first row has the prompt sign; the others are indented."""
    for index in range(lower - 1, max(-1, lower - 2 - _MAX_COMPOSER_ROWS), -1):
        if _COMPOSER_SIGN.match(rows[index]):
            return index - 1 if index > 0 and HORIZONTAL_RULE.match(rows[index - 1]) else None
        if rows[index] and not rows[index].startswith("  "):
            return None
    return None


def _find_dialog(rows: Sequence[str]) -> tuple[str, ...]:
    """Return the rows from the edge above the selected option to the end of the screen; empty if there is no dialog."""
    selected = next((index for index in range(len(rows) - 1, -1, -1) if OPTION_POINTER.match(rows[index])), 0)
    edge = _find_last_edge(rows[:selected])
    if edge is None and any(_EXIT_HINT.match(row) for row in rows[-1:]):  # a page without options
        edge = _find_last_edge(rows)
    return () if edge is None else tuple(filter(None, rows[edge + 1 :]))


def _find_last_edge(rows: Sequence[str]) -> int | None:
    return next((index for index in range(len(rows) - 1, -1, -1) if DIALOG_EDGE.match(rows[index])), None)


def _collect_blocks(rows: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    blocks: list[tuple[str, ...]] = []
    block: list[str] = []
    for row in reversed(rows):
        if not row or row.startswith(" " * _HINT_INDENT):
            continue
        block.insert(0, row)
        if not row.startswith(" "):
            blocks.append(tuple(block))
            block = []
        if len(blocks) == 3:
            break
    return tuple(blocks)


SCREEN_CLASSIFIER = ScreenClassifier("claude_code", split_regions, reset_time_finder=find_zoned_reset_time)
classify_screen = SCREEN_CLASSIFIER.classify_screen
