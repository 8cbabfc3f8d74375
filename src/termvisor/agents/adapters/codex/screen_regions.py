"""The parts of Codex' screen: the conversation, the line that shows work, the composer, or a dialog in its place.

What stands where is what makes a text mean something: an agent that prints the words of a dialog has none open.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.screen_classifier import ScreenRegions, trim_rows
from termvisor.model.terminal.screen import Screen

PROMPT_SIGN = "›"
_PARAGRAPH_SIGNS = (PROMPT_SIGN, "•", "◦", "■", "✔", "✗", "⚠", ">_")
_POINTED_OPTION = re.compile(r"\s*› \d+\. ")
_FOOTER_ROW = re.compile(r" {2}\S.* · [/~]")
"""The model and the folder, under the composer."""
_WORK_ROW = re.compile(r"[•◦] \S.* \((?:\d+[hms] ?)+ • esc to interrupt\)")
_RIGHT_EDGE_HINT = re.compile(r"\s{20,}\S")
"""A hint at the right edge, between the conversation and the composer."""
_DIALOG_KEYS_ROW = re.compile(
    r"\s*(?:Press enter to confirm or esc to cancel|enter (?:select|confirm|continue) · esc (?:back|skip)"
    r"|.*\| enter to submit (?:answer|all) \| esc to interrupt|Press enter to continue.*)"
)
"""The last row of a dialog: which keys it takes."""


class CodexScreenLayout(Struct, frozen=True, kw_only=True):
    conversation: tuple[str, ...] = ()
    """Rows that are not empty, the newest last."""
    work: str = ""
    """The line that shows for how long it has been working."""
    composer: str | None = None
    """What stands in it; None where there is no composer."""
    dialog: tuple[str, ...] = ()
    """Its rows, from its heading to its keys."""

    @property
    def last_paragraph(self) -> str:
        """The newest paragraph of the conversation, from its sign at the left edge on. Long lines go on there, too."""
        start = max((at for at, row in enumerate(self.conversation) if row.startswith(_PARAGRAPH_SIGNS)), default=0)
        return "\n".join(self.conversation[start:])

    @property
    def last_row(self) -> str:
        return self.conversation[-1] if self.conversation else ""


def parse_layout(rows: Sequence[str]) -> CodexScreenLayout:
    shown = trim_rows(rows)
    if shown and _DIALOG_KEYS_ROW.fullmatch(shown[-1]):
        return _parse_dialog_layout(shown)
    at = _find_composer_row(shown)
    if at is None:
        return CodexScreenLayout(conversation=tuple(filter(None, shown)))
    above = [row for row in shown[:at] if row and not _RIGHT_EDGE_HINT.match(row)]
    work = _find_work_row(above)
    footer = next(place for place in range(at, len(shown)) if _FOOTER_ROW.match(shown[place]))
    written = [row.removeprefix(PROMPT_SIGN).strip() for row in shown[at:footer]]
    return CodexScreenLayout(
        conversation=tuple(above if work is None else above[:work]),
        work=above[work] if work is not None else "",
        composer="\n".join(filter(None, written)),
    )


def split_regions(screen: Screen) -> ScreenRegions:
    """``around`` is the dialog and the paragraph above it. ``last`` and ``end`` count only where a composer is."""
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


def _parse_dialog_layout(shown: list[str]) -> CodexScreenLayout:
    """It begins below the last row that belongs to the conversation, for its own rows are indented or choices."""
    start = len(shown)
    while start and (
        not shown[start - 1] or shown[start - 1].startswith(" ") or _POINTED_OPTION.match(shown[start - 1])
    ):
        start -= 1
    while 0 < start < len(shown) and shown[start]:
        start += 1
    return CodexScreenLayout(conversation=tuple(filter(None, shown[:start])), dialog=tuple(filter(None, shown[start:])))


def _find_composer_row(shown: list[str]) -> int | None:
    """Its row: the last prompt that has the footer below it."""
    footers = [at for at, row in enumerate(shown) if _FOOTER_ROW.match(row)]
    prompts = [at for at, row in enumerate(shown) if row.startswith(PROMPT_SIGN) and footers and at < footers[-1]]
    return prompts[-1] if prompts else None


def _find_work_row(above: list[str]) -> int | None:
    """The row that shows work, with at most a few rows of details below it."""
    for at in range(len(above) - 1, max(-1, len(above) - 5), -1):
        if _WORK_ROW.match(above[at]):
            return at
        if not above[at].startswith("  "):
            return None
    return None
