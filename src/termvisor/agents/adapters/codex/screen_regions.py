"""The parts of Codex' screen: the conversation, the line that shows work, the composer, or a dialog in its place.

What stands where is what makes a text mean something: an agent that prints the words of a dialog has none open.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.screen_classifier import Parts, shown_rows
from termvisor.model.terminal.screen import Screen

PROMPT = "›"
_SIGNS = (PROMPT, "•", "◦", "■", "✔", "✗", "⚠", ">_")
_CHOICE = re.compile(r"\s*› \d+\. ")
_FOOTER = re.compile(r" {2}\S.* · [/~]")
"""The model and the folder, under the composer."""
_WORK = re.compile(r"[•◦] \S.* \((?:\d+[hms] ?)+ • esc to interrupt\)")
_ASIDE = re.compile(r"\s{20,}\S")
"""A hint at the right edge, between the conversation and the composer."""
_KEYS = re.compile(
    r"\s*(?:Press enter to confirm or esc to cancel|enter (?:select|confirm|continue) · esc (?:back|skip)"
    r"|.*\| enter to submit (?:answer|all) \| esc to interrupt|Press enter to continue.*)"
)
"""The last row of a dialog: which keys it takes."""


class Layout(Struct, frozen=True, kw_only=True):
    conversation: tuple[str, ...] = ()
    """Rows that are not empty, the newest last."""
    work: str = ""
    """The line that shows for how long it has been working."""
    composer: str | None = None
    """What stands in it; None where there is no composer."""
    dialog: tuple[str, ...] = ()
    """Its rows, from its heading to its keys."""

    @property
    def last(self) -> str:
        """The newest paragraph of the conversation, from its sign at the left edge on. Long lines go on there, too."""
        start = max((at for at, row in enumerate(self.conversation) if row.startswith(_SIGNS)), default=0)
        return "\n".join(self.conversation[start:])

    @property
    def end(self) -> str:
        return self.conversation[-1] if self.conversation else ""


def layout_of(rows: Sequence[str]) -> Layout:
    shown = shown_rows(rows)
    if shown and _KEYS.fullmatch(shown[-1]):
        return _with_dialog(shown)
    at = _composer(shown)
    if at is None:
        return Layout(conversation=tuple(filter(None, shown)))
    above = [row for row in shown[:at] if row and not _ASIDE.match(row)]
    work = _work(above)
    footer = next(place for place in range(at, len(shown)) if _FOOTER.match(shown[place]))
    written = [row.removeprefix(PROMPT).strip() for row in shown[at:footer]]
    return Layout(
        conversation=tuple(above if work is None else above[:work]),
        work=above[work] if work is not None else "",
        composer="\n".join(filter(None, written)),
    )


def parts_of(screen: Screen) -> Parts:
    """``around`` is the dialog and the paragraph above it. ``last`` and ``end`` count only where a composer is."""
    layout = layout_of(screen.rows)
    has_composer = layout.composer is not None
    return {
        "dialog": layout.dialog,
        "around": (layout.last, *layout.dialog) if layout.dialog else (),
        "work": (layout.work,),
        "last": (layout.last,) if has_composer else (),
        "end": (layout.end,) if has_composer else (),
        "whole": [row.rstrip() for row in screen.rows if row.strip()],
    }


def _with_dialog(shown: list[str]) -> Layout:
    """It begins below the last row that belongs to the conversation, for its own rows are indented or choices."""
    start = len(shown)
    while start and (not shown[start - 1] or shown[start - 1].startswith(" ") or _CHOICE.match(shown[start - 1])):
        start -= 1
    while 0 < start < len(shown) and shown[start]:
        start += 1
    return Layout(conversation=tuple(filter(None, shown[:start])), dialog=tuple(filter(None, shown[start:])))


def _composer(shown: list[str]) -> int | None:
    """Its row: the last prompt that has the footer below it."""
    footers = [at for at, row in enumerate(shown) if _FOOTER.match(row)]
    prompts = [at for at, row in enumerate(shown) if row.startswith(PROMPT) and footers and at < footers[-1]]
    return prompts[-1] if prompts else None


def _work(above: list[str]) -> int | None:
    """The row that shows work, with at most a few rows of details below it."""
    for at in range(len(above) - 1, max(-1, len(above) - 5), -1):
        if _WORK.match(above[at]):
            return at
        if not above[at].startswith("  "):
            return None
    return None
