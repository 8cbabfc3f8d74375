"""Recognize what every agent's screen has, whatever its version prints: a dialog, a composer, a row that shows work.

A dialog is a question with options, one of them marked by a pointer, and nothing but key hints below. A composer is an
input area with a prompt sign: between two rules, in a box, or in the row of the cursor. Work is a row beside the
composer that counts time or names the key that stops it. Each has a module: `screen_dialog`, `screen_composer`,
`screen_work`; `screen_rows` prepares what they read. Rules for the words of one version come before this (see
`screen_classifier`); a screen with none of these structures stays unknown.

Invariant: text that an agent prints is never a dialog. A dialog ends the screen, and a composer below it makes it a
part of the conversation.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from termvisor.agents.adapters.screen_composer import find_composer
from termvisor.agents.adapters.screen_dialog import ScreenDialog, find_dialog
from termvisor.agents.adapters.screen_rows import FRAME_ROW, strip_frame, trim_screen_rows
from termvisor.agents.adapters.screen_work import find_work
from termvisor.model.terminal.screen import Screen

_PROMPT_ROW = re.compile(r"\s{0,3}[❯›>┃▌] {1,3}\S")
_PARAGRAPH_SIGN = re.compile(r"\s{0,3}[●•◦■✔✗✕×✓⚠ℹ✦⏺○] ")
# A hint at the right edge, the working folder, or the row that ends a turn.
_TURN_END = re.compile(
    r"\s{20,}\S.*|.*\S\s{20,}\S.{0,40}|\s*[/~]\S*\s*|\s*[▣✻✽✢✳✶] (?!.*interrupted).*"
    r"|\s*[·*] .*\b\d+s\b.*|─.*"
)
ScreenRegions = Mapping[str, Sequence[str]]
"""Rows by region name; an absent region has no rows."""


class ScreenStructure(Struct, frozen=True, kw_only=True):
    """The structures of one screen. ``composer`` is None if there is no composer; then there may be a dialog."""

    question: str = ""
    options: tuple[str, ...] = ()
    """The labels of the dialog's options, in order; empty if there is no dialog."""
    selected: int = -1
    """The index of the option with the pointer; -1 if only a colour marks it."""
    is_inline: bool = False
    """True if the options stand in one row."""
    composer: tuple[str, ...] | None = None
    work: str = ""
    conversation: tuple[str, ...] = ()
    """The rows above composer and work."""


def split_regions(screen: Screen) -> ScreenRegions:
    """Return the regions that the rules for any agent refer to.

    ``options`` has one label per row. ``turn`` is what follows the last prompt and ``last`` its last paragraph; both
    exist only if a composer is shown. ``rest`` exists whenever a composer is shown.
    """
    found = read_structure(screen)
    if found.options:
        return {"question": [found.question or "?"], "options": found.options}
    if found.composer is None:
        return {}
    turn = _list_turn_paragraphs(found.conversation)
    return {
        "composer": found.composer or ("",),
        "work": [found.work] if found.work else (),
        "turn": [row for paragraph in turn for row in paragraph],
        "last": turn[-1] if turn else (),
        "rest": ["at the prompt"],
    }


def read_structure(screen: Screen) -> ScreenStructure:
    rows = trim_screen_rows(screen)
    if (span := find_composer(rows, screen)) is not None:
        start, end = span
        work_row, above = find_work(rows, start, end)
        return ScreenStructure(
            composer=tuple(strip_frame(row) for row in rows[start:end]),
            work=work_row,
            conversation=tuple(row for row in above if not FRAME_ROW.fullmatch(row)),
        )
    dialog = find_dialog(rows) or ScreenDialog()
    return ScreenStructure(
        question=dialog.question, options=dialog.options, selected=dialog.selected, is_inline=dialog.is_inline
    )


def _list_turn_paragraphs(conversation: Sequence[str]) -> list[list[str]]:
    """Return the paragraphs after the last prompt, without rows that only end a turn or name the folder.

    A paragraph begins after a blank row, or with a sign at the margin.
    """
    prompts = [index for index, row in enumerate(conversation) if _is_prompt(row)]
    paragraphs: list[list[str]] = [[]]
    for row in conversation[prompts[-1] + 1 :] if prompts else ():
        text = strip_frame(row)
        if not text.strip() or _PARAGRAPH_SIGN.match(text):
            paragraphs.append([])
        if text.strip() and not _TURN_END.fullmatch(text):
            paragraphs[-1].append(text)
    return [one for one in paragraphs if one]


def _is_prompt(row: str) -> bool:
    return bool(_PROMPT_ROW.match(row))
