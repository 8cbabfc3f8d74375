"""Recognize what every agent's screen has, whatever its version prints: a dialog, a composer, a row that shows work.

A dialog is a question with options, one of them marked by a pointer, and nothing but key hints below. A composer is an
input area with a prompt sign: between two rules, in a box, or in the row of the cursor. Work is a row beside the
composer that counts time or names the key that stops it. Rules for the words of one version come before this (see
`screen_classifier`); a screen with none of these structures stays unknown.

Invariant: text that an agent prints is never a dialog. A dialog ends the screen, and a composer below it makes it a
part of the conversation.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from termvisor.model.terminal.screen import Screen

_FRAME = re.compile(r"^\s*[│┃║▌▎|](?P<inner>.*?)[│┃║▐▕|]?\s*$")
_SIGN_VARIATION = re.compile("^(\\s{0,3}\\S)[\ufe0e\ufe0f]")
ZERO_WIDTH_BLANKS = "\u200b\u2060\ufeff"
"""Some agents draw one after the text in their composer."""
_SCROLL_BAR = re.compile(r"(?<=.{38}\s\s)([┃█▐║▕▄▀])\s*$")
_LEFT_BAR = re.compile(r"\s*┃(?=\s*[^\s┃█▐║▕▄▀])")
_FRAME_ROW = re.compile(r"\s*[╭╰┌└├╞╔╚╹▝▗]?[─━═╌▔▁▀▄╴╶]{6,}.*")
_RULE = re.compile(r"\s{0,3}[─━═▔▁]{8,}.*|\s{0,3}[╭╰┌└├][─━═]{4,}.*|[─━═]{2} \S.{0,60} [─━═]{8,}")
_BOX_BOTTOM = re.compile(r"\s{0,3}[╰└╚][─━═]{6,}[╯┘╝]")
_BLOCK_EDGE = re.compile(r"\s*[╹▀]▀{6,}.*")
_PROMPT_SIGN = re.compile(r"\s{0,4}[❯›>!*»▌](?:\s|$)")
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
_STOP_KEY = re.compile(
    r"(?i)\b(?:esc|ctrl[+-]c)(?:ape)?(?: (?:esc|again))?(?: to)? (?:interrupt|cancel|stop|abort|edit prompt)"
)
_STOP_KEY_IN_BRACKETS = re.compile(r"(?i)\s{0,4}\W .*\(esc to (?:interrupt|cancel|stop)\b")
_WORK_FOOTER = re.compile(r"(?i)\s{0,4}[○◎◉●◌◐◓◑◒⠀-⣿] (?!.*\benter\b)\S.*\besc (?:esc |again )?(?:cancel|interrupt)\b")
_ELAPSED = re.compile(r"\b\d+(?:\.\d+)?s\b")
_BRAILLE_SPINNER = re.compile(r"\s{0,4}[⠁-⣿] \S")
_SPINNER = re.compile(r"\s{0,4}(?:[⠀-⣿]|[·✢✳✶✻✽∗*◐◓◑◒◌] ?)\s?\S.{0,80}?(?:…|\.\.\.)")
_WORK_BAR = re.compile(r"[■⬝▰▱█░]{5,}")
_PROMPT_ROW = re.compile(r"\s{0,3}[❯›>┃▌] {1,3}\S")
_PARAGRAPH_SIGN = re.compile(r"\s{0,3}[●•◦■✔✗✕×✓⚠ℹ✦⏺○] ")
# A hint at the right edge, the working folder, or the row that ends a turn.
_TURN_END = re.compile(
    r"\s{20,}\S.*|.*\S\s{20,}\S.{0,40}|\s*[/~]\S*\s*|\s*[▣✻✽✢✳✶] (?!.*interrupted).*"
    r"|\s*[·*] .*\b\d+s\b.*|─.*"
)
_MAX_ROWS_BELOW_OPTIONS = 4
_MAX_WORK_DISTANCE = 6
_MAX_FOOTER_ROWS, _MAX_COMPOSER_ROWS = 14, 30

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
    if (span := _find_composer(rows, screen)) is not None:
        start, end = span
        work_row, above = _find_work(rows, start, end)
        return ScreenStructure(
            composer=tuple(_strip_frame(row) for row in rows[start:end]),
            work=work_row,
            conversation=tuple(row for row in above if not _FRAME_ROW.fullmatch(row)),
        )
    return _find_dialog(rows) or ScreenStructure()


def count_rows_above_composer(screen: Screen) -> int:
    """Return the number of rows above the composer; those above the cursor if there is no composer."""
    span = _find_composer(trim_screen_rows(screen), screen)
    return min(screen.cursor_y, span[0]) if span is not None else screen.cursor_y


def trim_screen_rows(screen: Screen) -> list[str]:
    """Return the rows without scroll bar, blanks at their ends, and blank rows at the end."""
    plain = [row.rstrip(ZERO_WIDTH_BLANKS).rstrip() for row in remove_scroll_bars(screen.rows)]
    rows = [_SIGN_VARIATION.sub(r"\1", row) for row in plain]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def remove_scroll_bars(rows: Sequence[str]) -> list[str]:
    """Return the rows without a scroll bar at their right edge. The left bar of an empty row of input is none."""
    left_bars = {match.end() for row in rows if (match := _LEFT_BAR.match(row))}
    return [_SCROLL_BAR.sub(lambda match: match[0] if match.end(1) in left_bars else "", row) for row in rows]


def find_ruled_span(screen: Screen) -> tuple[int, int] | None:
    """Return the first row around the cursor between two horizontal rules, and the row of the lower rule."""
    rules = [index for index, row in enumerate(screen.rows) if _RULE.fullmatch(row.lstrip())]
    upper = max((index for index in rules if index < screen.cursor_y), default=None)
    lower = min((index for index in rules if index > screen.cursor_y), default=None)
    if upper is None or lower is None or lower - upper - 1 > _MAX_COMPOSER_ROWS or screen.cursor_y in rules:
        return None
    return upper + 1, lower


def _strip_frame(row: str) -> str:
    match = _FRAME.match(row)
    return (match["inner"] if match else row).rstrip()


# Composer


def _find_composer(rows: Sequence[str], screen: Screen) -> tuple[int, int] | None:
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
        is_parked |= screen.cursor_y == span[0] - 1 and _RULE.fullmatch(rows[screen.cursor_y]) is not None
    if span is None or not (span[0] <= screen.cursor_y < span[1] or is_parked):
        return None
    below = [row for row in rows[span[1] :] if row and not _FRAME_ROW.fullmatch(row)]
    return span if len(below) <= _MAX_FOOTER_ROWS and all(row.startswith(" ") for row in below) else None


def _find_ruled_composer(rows: Sequence[str]) -> tuple[int, int] | None:
    """Find rows with a prompt sign directly below a rule or the top of a box, and above another rule."""
    edges = [index for index, row in enumerate(rows) if _RULE.fullmatch(row)]
    for upper, lower in zip(reversed(edges[:-1]), reversed(edges[1:]), strict=True):
        inside = [_strip_frame(row) for row in rows[upper + 1 : lower]]
        first = next((row for row in inside if row.strip()), "")
        is_short = 0 < len(inside) <= _MAX_COMPOSER_ROWS and len(rows) - lower <= _MAX_FOOTER_ROWS + 2
        if is_short and _PROMPT_SIGN.match(first) and inside.index(first) <= 2:
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
        row = _strip_frame(rows[index])
        if _PROMPT_SIGN.match(row):
            is_before = index < at or screen.cursor_x >= len(row) - len(row.lstrip()) + 1
            following = [_strip_frame(one) for one in rows[index + 1 :]]
            # The cursor follows typed text; wrapped rows of it look like options.
            is_typed = index < at < len(rows) and screen.cursor_x == len(rows[at])
            is_option = not is_typed and any(_is_sibling(row, one) for one in following[:1])
            # Some versions of Codex hide the footer while text is typed; no usual shell prompt has its sign.
            is_last = row.startswith("›") and at == len(rows) - 1 and not any(rows[index - 1 : index])
            has_footer = is_last or any(row.startswith(" ") for row in rows[at + 1 :])
            return (index, at + 1) if is_before and has_footer and not is_option else None
        if not row.startswith(" "):
            return None
    return None


def _is_sibling(pointed: str, other: str) -> bool:
    """Return True if another row is an option of the same list: its label stands in the same column."""
    first, second = _OPTION.fullmatch(pointed), _OPTION.fullmatch(other)
    if first is None or second is None or not first["pointer"] or second["pointer"]:
        return False
    if first["number"]:
        return bool(second["number"]) and abs(first.start("number") - second.start("number")) <= 1
    return first.start("label") == second.start("label") and not second["number"]


# Work


def _find_work(rows: Sequence[str], start: int, end: int) -> tuple[str, Sequence[str]]:
    """Return the row that shows work, and the rows above composer and work."""
    # Modes may stand between the composer and the rule that separates it from the conversation.
    rules = [index for index in range(max(0, start - 4), start) if _RULE.fullmatch(rows[index])]
    top = rules[0] if rules else start
    while top and (not rows[top - 1] or _FRAME_ROW.fullmatch(rows[top - 1])):
        top -= 1
    footer = " ".join(" ".join(rows[end:]).split())
    if _STOP_KEY.search(footer) and not _is_hint_only(footer):
        return footer, rows[:top]
    seen = 0
    for index in range(top - 1, -1, -1):
        row = rows[index]
        if not row:
            continue
        seen += 1
        if _is_work(row):
            return row.strip(), rows[:index]
        if seen >= _MAX_WORK_DISTANCE:
            break
    return "", rows[:top]


def _is_work(row: str) -> bool:
    if _SPINNER.match(row) or _BRAILLE_SPINNER.match(row):
        return True
    return bool(_STOP_KEY.search(row)) and bool(
        _ELAPSED.search(row) or _WORK_BAR.search(row) or _STOP_KEY_IN_BRACKETS.search(row)
    )


def _is_hint_only(row: str) -> bool:
    """Return True for a footer that explains the key in general, without work."""
    return bool(re.search(r"(?i)\bctrl[+-]c\b.*\bexit\b|twice|double", row))


# Conversation


def _list_turn_paragraphs(conversation: Sequence[str]) -> list[list[str]]:
    """Return the paragraphs after the last prompt, without rows that only end a turn or name the folder.

    A paragraph begins after a blank row, or with a sign at the margin.
    """
    prompts = [index for index, row in enumerate(conversation) if _is_prompt(row)]
    paragraphs: list[list[str]] = [[]]
    for row in conversation[prompts[-1] + 1 :] if prompts else ():
        text = _strip_frame(row)
        if not text.strip() or _PARAGRAPH_SIGN.match(text):
            paragraphs.append([])
        if text.strip() and not _TURN_END.fullmatch(text):
            paragraphs[-1].append(text)
    return [one for one in paragraphs if one]


def _is_prompt(row: str) -> bool:
    return bool(_PROMPT_ROW.match(row))


# Dialog


def _find_dialog(rows: Sequence[str]) -> ScreenStructure | None:
    inner = [_strip_frame(row) for row in _cut_below_box(rows)]
    return _find_listed_dialog(inner) or _find_inline_dialog(inner) or _find_unmarked_dialog(inner)


def _cut_below_box(rows: Sequence[str]) -> Sequence[str]:
    """Return the rows without a footer below the last box: some agents keep it while a dialog replaces the composer."""
    bottom = next((index for index in range(len(rows) - 1, -1, -1) if _BOX_BOTTOM.fullmatch(rows[index])), None)
    if bottom is None:
        return rows
    footer = [row for row in rows[bottom + 1 :] if row and not _FRAME_ROW.fullmatch(row)]
    is_footer = len(footer) <= _MAX_ROWS_BELOW_OPTIONS and all(
        (row.startswith(" ") and not _PROMPT_SIGN.match(row)) or _SPINNER.match(row) for row in footer
    )
    return rows[: bottom + 1] if is_footer else rows


def _find_unmarked_dialog(inner: Sequence[str]) -> ScreenStructure | None:
    """Find numbered options, the selected one marked by colour only, above a row of key hints that ends the screen."""
    filled = [index for index, row in enumerate(inner) if row.strip() and not _FRAME_ROW.fullmatch(row)]
    if not filled or len(_KEY_HINT.findall(inner[filled[-1]])) < 2:
        return None
    options = [index for index in filled[-24:-1] if (match := _OPTION.fullmatch(inner[index])) and match["number"]]
    if len(options) < 2 or not _has_counted_options(inner, options):
        return None
    return _build_dialog(inner, options)


def _find_listed_dialog(inner: Sequence[str]) -> ScreenStructure | None:
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


def _build_dialog(inner: Sequence[str], options: Sequence[int], selected: int = -1) -> ScreenStructure:
    labels = tuple(_get_label(inner[one]) for one in options)
    return ScreenStructure(question=_find_question(inner[: options[0]]), options=labels, selected=selected)


def _find_siblings(inner: Sequence[str], index: int) -> list[int]:
    """Return the rows of the list to which the pointed row belongs, in order. Details may stand between them."""
    found = [index]
    for step in (-1, 1):
        at, skipped = index + step, 0
        while 0 <= at < len(inner) and skipped <= 3:
            if _is_sibling(inner[index], inner[at]):
                found.append(at)
                skipped = 0
            else:
                skipped += 1
            at += step
    return sorted(found)


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
    rest = [row for row in inner[last + 1 :] if row.strip() and not _FRAME_ROW.fullmatch(row)]
    return len(rest) <= _MAX_ROWS_BELOW_OPTIONS and all(
        _KEY_HINT.search(row) or _WAITING_ROW.fullmatch(row) or len(row) - len(row.lstrip()) >= max(column, 2)
        for row in rest
    )


def _find_inline_dialog(inner: Sequence[str]) -> ScreenStructure | None:
    """Find options in one row beside a key hint: `Allow once   Allow always   Reject      enter confirm`."""
    tail = [row for row in inner[-6:] if row.strip() and not _FRAME_ROW.fullmatch(row)]
    for index, row in enumerate(tail):
        if _WORK_FOOTER.match(row):
            return None
        match = _INLINE_OPTIONS.match(row)
        is_last = all(_KEY_HINT.search(one) for one in tail[index + 1 :])
        if match and is_last and any(_KEY_HINT.search(one) for one in tail[index:]):
            labels = tuple(re.split(r"\s{3,}", match["options"].strip()))
            question = _find_question(inner[: inner.index(row)])
            return ScreenStructure(question=question, options=labels, is_inline=True)
    return None


def _find_question(above: Sequence[str]) -> str:
    """Return the row that asks, or else the nearest heading above the options."""
    near = [row.strip() for row in above[-20:] if row.strip() and not _FRAME_ROW.fullmatch(row)]
    asking = [row for row in near if row.endswith("?") or "? " in row]
    return (asking or near or [""])[-1][:200]
