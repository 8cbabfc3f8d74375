"""Split Codex screens into regions: conversation, work row, composer, or a dialog in its place.

The region gives text its meaning: an agent may print the text of a dialog without showing one. Streamed text has no
marker: it means work until the row that ends a turn appears, and only changes in the pane prove it (see
`termvisor.agents.state.hysteresis`).
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.error_classifier import find_local_reset_time
from termvisor.agents.adapters.screen_classifier import ScreenClassifier, trim_rows
from termvisor.agents.adapters.screen_structure import ScreenRegions
from termvisor.model.terminal.screen import Screen

PROMPT_SIGN = "›"
_PARAGRAPH_SIGNS = (PROMPT_SIGN, "•", "◦", "■", "✔", "✗", "⚠", ">_")
_POINTED_OPTION = re.compile(r"\s*› \d+\. ")
# Model and folder, below the composer.
_FOOTER_ROW = re.compile(r" {2}\S.* · [/~]")
_WORK_ROW = re.compile(r"[•◦] \S.* \((?:\d+[hms] ?)+ • esc to interrupt\)")
# A hint at the right edge, between the conversation and the composer.
_RIGHT_EDGE_HINT = re.compile(r"\s{20,}\S")
# The heading of a list of prompts that Codex takes later, between the work row and the composer.
_QUEUE_HEADING = re.compile(r"• (?:Messages to be submitted after|Queued )")
# The last row of a dialog, which lists its keys.
_DIALOG_KEYS_ROW = re.compile(
    r"\s*(?:Press enter to confirm or esc to (?:cancel|go back)|enter (?:select|confirm|continue) · esc (?:back|skip)"
    r"|.*\| enter to submit (?:answer|all) \| esc to interrupt|Press enter to continue.*)"
)


class CodexScreenLayout(Struct, frozen=True, kw_only=True):
    """The parts of one screen."""

    conversation: tuple[str, ...] = ()
    """Rows that are not blank, the newest last."""
    work: str = ""
    """The row that shows how long Codex has been working."""
    queue: tuple[str, ...] = ()
    """The prompts that it takes later, with their heading."""
    composer: str | None = None
    """The text in the composer; None if there is no composer."""
    dialog: tuple[str, ...] = ()
    """Rows from the heading to the list of keys."""

    @property
    def last_paragraph(self) -> str:
        """The newest paragraph of the conversation, starting at the last row with a paragraph sign."""
        starts = (index for index, row in enumerate(self.conversation) if row.startswith(_PARAGRAPH_SIGNS))
        return "\n".join(self.conversation[max(starts, default=0) :])

    @property
    def last_row(self) -> str:
        return self.conversation[-1] if self.conversation else ""


def parse_layout(rows: Sequence[str]) -> CodexScreenLayout:
    trimmed = trim_rows(rows)
    if trimmed and _DIALOG_KEYS_ROW.fullmatch(trimmed[-1]):
        return _parse_dialog_layout(trimmed)
    composer = _find_composer_row(trimmed)
    if composer is None:
        return CodexScreenLayout(conversation=tuple(filter(None, trimmed)))
    above = [row for row in trimmed[:composer] if row and not _RIGHT_EDGE_HINT.match(row)]
    queue = _find_queue(above)
    above = above[: len(above) - len(queue)]
    work = _find_work_row(above)
    footer = next(index for index in range(composer, len(trimmed)) if _FOOTER_ROW.match(trimmed[index]))
    composer_rows = [row.removeprefix(PROMPT_SIGN).strip() for row in trimmed[composer:footer]]
    return CodexScreenLayout(
        conversation=tuple(above if work is None else above[:work]),
        work=above[work] if work is not None else "",
        queue=tuple(queue),
        composer="\n".join(filter(None, composer_rows)),
    )


def split_regions(screen: Screen) -> ScreenRegions:
    """Return the regions that rules may refer to.

    ``around`` is the dialog and the paragraph above it. ``last`` and ``end`` exist only if a composer is shown.
    """
    layout = parse_layout(screen.rows)
    has_composer = layout.composer is not None
    return {
        "dialog": layout.dialog,
        "around": (layout.last_paragraph, *layout.dialog) if layout.dialog else (),
        "work": (layout.work,),
        "last": (layout.last_paragraph,) if has_composer else (),
        "end": (layout.last_row,) if has_composer else (),
        "whole": [row.rstrip() for row in screen.rows if row.strip()],
    }


def _parse_dialog_layout(rows: list[str]) -> CodexScreenLayout:
    """Separate the dialog, whose rows are indented or options, from the conversation above it."""
    start = len(rows)
    while start and (not rows[start - 1] or rows[start - 1].startswith(" ") or _POINTED_OPTION.match(rows[start - 1])):
        start -= 1
    while 0 < start < len(rows) and rows[start]:
        start += 1
    return CodexScreenLayout(conversation=tuple(filter(None, rows[:start])), dialog=tuple(filter(None, rows[start:])))


def _find_composer_row(rows: list[str]) -> int | None:
    """Return the index of the last prompt row above the footer."""
    footers = [index for index, row in enumerate(rows) if _FOOTER_ROW.match(row)]
    prompts = [
        index for index, row in enumerate(rows) if row.startswith(PROMPT_SIGN) and footers and index < footers[-1]
    ]
    return prompts[-1] if prompts else None


def _find_queue(rows: list[str]) -> list[str]:
    """Return the lists of queued prompts at the end of the rows: headings, and the indented rows below them."""
    start = end = len(rows)
    while end and (rows[end - 1].startswith("  ") or _QUEUE_HEADING.match(rows[end - 1])):
        end -= 1
        start = end if _QUEUE_HEADING.match(rows[end]) else start
    return rows[start:]


def _find_work_row(rows: list[str]) -> int | None:
    """Return the index of the work row, which may have a few rows of details below it."""
    for index in range(len(rows) - 1, max(-1, len(rows) - 5), -1):
        if _WORK_ROW.match(rows[index]):
            return index
        if not rows[index].startswith("  "):
            return None
    return None


SCREEN_CLASSIFIER = ScreenClassifier("codex", split_regions, reset_time_finder=find_local_reset_time)
classify_screen = SCREEN_CLASSIFIER.classify_screen
