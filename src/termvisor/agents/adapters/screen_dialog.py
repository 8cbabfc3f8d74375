"""Find the dialog that an agent shows: a question with options, and nothing but key hints below.

One option is marked by a pointer, or by a colour alone. Options stand below each other, or in one row.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.screen_rows import FRAME_ROW, PROMPT_SIGN, strip_frame
from termvisor.agents.adapters.screen_work import SPINNER

_BOX_BOTTOM = re.compile(r"\s{0,3}[╰└╚][─━═]{6,}[╯┘╝]")
_POINTER = "❯›▶▸➤→>●◉◆"
_OPTION = re.compile(
    rf"\s{{0,8}}(?P<pointer>[{_POINTER}]\s{{1,2}})?(?:[\[(☐☑◯○][ x✓✔*\])]*\s)?"
    r"(?P<number>\d{1,2}[.)]\s+)?(?P<label>\S.*)"
)
_KEY_HINT = re.compile(
    r"(?i)\b(?:enter|return|↵)\b.{0,24}\b(?:select|confirm|submit|continue|accept|approve|choose|set|to)\b"
    r"|\besc(?:ape)?\b.{0,16}\b(?:cancel|dismiss|back|exit|close|skip|reject|decline|to)\b"
    r"|[↑↓⇆].{0,14}\b(?:select|navigate|move|choose)\b|\by/n\b|\(esc\)"
)
_WAITING_ROW = re.compile(r"(?i)\s{0,4}[⠁-⣿] .{0,20}\b(?:wait(?:ing)? for|awaiting)\b.{0,30}")
_INLINE_OPTIONS = re.compile(r"^\s*(?P<options>\S+(?: \S+){0,3}(?:\s{3,}\S+(?: \S+){0,3}){1,4})(?:\s{4,}.*)?$")
_WORK_FOOTER = re.compile(r"(?i)\s{0,4}[○◎◉●◌◐◓◑◒⠀-⣿] (?!.*\benter\b)\S.*\besc (?:esc |again )?(?:cancel|interrupt)\b")
_MAX_ROWS_BELOW_OPTIONS = 4


class ScreenDialog(Struct, frozen=True, kw_only=True):
    question: str = ""
    options: tuple[str, ...] = ()
    """The labels of the options, in order; empty if there is no dialog."""
    selected: int = -1
    """The index of the option with the pointer; -1 if only a colour marks it."""
    is_inline: bool = False
    """True if the options stand in one row."""


def find_dialog(rows: Sequence[str]) -> ScreenDialog | None:
    inner = [strip_frame(row) for row in _cut_below_box(rows)]
    return _find_listed_dialog(inner) or _find_inline_dialog(inner) or _find_unmarked_dialog(inner)


def _cut_below_box(rows: Sequence[str]) -> Sequence[str]:
    """Return the rows without a footer below the last box: some agents keep it while a dialog replaces the composer."""
    bottom = next((index for index in range(len(rows) - 1, -1, -1) if _BOX_BOTTOM.fullmatch(rows[index])), None)
    if bottom is None:
        return rows
    footer = [row for row in rows[bottom + 1 :] if row and not FRAME_ROW.fullmatch(row)]
    is_footer = len(footer) <= _MAX_ROWS_BELOW_OPTIONS and all(
        (row.startswith(" ") and not PROMPT_SIGN.match(row)) or SPINNER.match(row) for row in footer
    )
    return rows[: bottom + 1] if is_footer else rows


def _find_unmarked_dialog(inner: Sequence[str]) -> ScreenDialog | None:
    """Find numbered options, the selected one marked by colour only, above a row of key hints that ends the screen."""
    filled = [index for index, row in enumerate(inner) if row.strip() and not FRAME_ROW.fullmatch(row)]
    if not filled or len(_KEY_HINT.findall(inner[filled[-1]])) < 2:
        return None
    options = [index for index in filled[-24:-1] if (match := _OPTION.fullmatch(inner[index])) and match["number"]]
    if len(options) < 2 or not _has_counted_options(inner, options):
        return None
    return _build_dialog(inner, options)


def _find_listed_dialog(inner: Sequence[str]) -> ScreenDialog | None:
    """Find the last row with a pointer that has sibling options, and nothing but details and key hints below."""
    for index in range(len(inner) - 1, max(-1, len(inner) - 40), -1):
        match = _OPTION.fullmatch(inner[index])
        if match is None or not match["pointer"]:
            continue
        siblings = _find_siblings(inner, index)
        if len(siblings) < 2 or not _has_counted_options(inner, siblings) or not _is_end_of_screen(inner, siblings[-1]):
            continue
        below = [row for row in inner[siblings[0] :] if row.strip()]
        has_hint = any(_KEY_HINT.search(row) for row in below)
        if not has_hint and not match["number"]:
            return None
        return _build_dialog(inner, siblings, siblings.index(index))
    return None


def _build_dialog(inner: Sequence[str], options: Sequence[int], selected: int = -1) -> ScreenDialog:
    labels = tuple(_get_label(inner[one]) for one in options)
    return ScreenDialog(question=_find_question(inner[: options[0]]), options=labels, selected=selected)


def _find_siblings(inner: Sequence[str], index: int) -> list[int]:
    """Return the rows of the list to which the pointed row belongs, in order. Details may stand between them."""
    found = [index]
    for step in (-1, 1):
        at, skipped = index + step, 0
        while 0 <= at < len(inner) and skipped <= 3:
            if is_sibling_option(inner[index], inner[at]):
                found.append(at)
                skipped = 0
            else:
                skipped += 1
            at += step
    return sorted(found)


def is_sibling_option(pointed: str, other: str) -> bool:
    """Return True if another row is an option of the same list: its label stands in the same column."""
    first, second = _OPTION.fullmatch(pointed), _OPTION.fullmatch(other)
    if first is None or second is None or not first["pointer"] or second["pointer"]:
        return False
    if first["number"]:
        return bool(second["number"]) and abs(first.start("number") - second.start("number")) <= 1
    return first.start("label") == second.start("label") and not second["number"]


def _has_counted_options(inner: Sequence[str], siblings: Sequence[int]) -> bool:
    """Return True if the options have no numbers, or the numbers 1, 2, 3, …"""
    numbers = [match["number"] for one in siblings if (match := _OPTION.fullmatch(inner[one])) and match["number"]]
    return [number.rstrip(" .)") for number in numbers] == [str(at + 1) for at in range(len(numbers))]


def _get_label(row: str) -> str:
    match = _OPTION.fullmatch(row)
    return match["label"].strip() if match else row.strip()


def _is_end_of_screen(inner: Sequence[str], last: int) -> bool:
    """Return True if only details of options, further options, key hints, and a row that tells of waiting follow."""
    match = _OPTION.fullmatch(inner[last])
    column = match.start("label") if match else 0
    rest = [row for row in inner[last + 1 :] if row.strip() and not FRAME_ROW.fullmatch(row)]
    return len(rest) <= _MAX_ROWS_BELOW_OPTIONS and all(
        _KEY_HINT.search(row) or _WAITING_ROW.fullmatch(row) or len(row) - len(row.lstrip()) >= max(column, 2)
        for row in rest
    )


def _find_inline_dialog(inner: Sequence[str]) -> ScreenDialog | None:
    """Find options in one row beside a key hint: `Allow once   Allow always   Reject      enter confirm`."""
    tail = [row for row in inner[-6:] if row.strip() and not FRAME_ROW.fullmatch(row)]
    for index, row in enumerate(tail):
        if _WORK_FOOTER.match(row):
            return None
        match = _INLINE_OPTIONS.match(row)
        is_last = all(_KEY_HINT.search(one) for one in tail[index + 1 :])
        if match and is_last and any(_KEY_HINT.search(one) for one in tail[index:]):
            labels = tuple(re.split(r"\s{3,}", match["options"].strip()))
            question = _find_question(inner[: inner.index(row)])
            return ScreenDialog(question=question, options=labels, is_inline=True)
    return None


def _find_question(above: Sequence[str]) -> str:
    """Return the row that asks, or else the nearest heading above the options."""
    near = [row.strip() for row in above[-20:] if row.strip() and not FRAME_ROW.fullmatch(row)]
    asking = [row for row in near if row.endswith("?") or "? " in row]
    return (asking or near or [""])[-1][:200]
