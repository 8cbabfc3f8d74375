"""How things look to people: cells, tables and ages, in plain text or Markdown.

Invariant: whatever came from a pane passes `clean` before it stands in a line, so no captured text can move the
cursor, set the title or forge a row of the reader's terminal.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

Form = Literal["json", "markdown", "plain"]
_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_PAINT = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Look(Struct, frozen=True, kw_only=True):
    """What the reader's side is like. ``width`` 0 means that nothing needs to be shortened."""

    width: int = 80
    colour: bool = False
    now: int = 0
    form: Form = "plain"
    is_terminal: bool = False
    is_quiet: bool = False

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{_PAINT[style]}m{text}\x1b[0m" if self.colour and style else text


class Column(Struct, frozen=True):
    """One column: its title, and how an item's cell reads. When space is short, ``may_shrink`` columns give way down to
    ``narrowest``; where that is not enough, those that are ``is_extra`` are left out, the last one first. ``paint``
    says the style of one item's cell, where it is not the same for all.
    """

    title: str
    cell: Callable[[Any], str]
    is_right: bool = False
    may_shrink: bool = False
    style: str = ""
    paint: Callable[[Any], str] | None = None
    narrowest: int = 8
    is_extra: bool = False

    def style_of(self, item: Any) -> str:
        return self.style if self.paint is None else self.paint(item)


def clean(text: str) -> str:
    """One line without control characters, escape sequences and invisible direction marks."""
    return _UNSEEN.sub("", _SEQUENCE.sub("", text)).replace("\t", " ").replace("\n", " ")


def clean_lines(text: str) -> str:
    """Several lines, each clean; tabs are kept."""
    return _UNSEEN.sub("", _SEQUENCE.sub("", text))


def clean_coloured(text: str) -> str:
    """Like `clean`, but SGR colours stay; whatever was coloured is set back at the end."""
    parts = _COLOUR.split(text)
    kept = _COLOUR.findall(text)
    joined = clean(parts[0]) + "".join(colour + clean(part) for colour, part in zip(kept, parts[1:], strict=True))
    return joined + "\x1b[0m" if kept else joined


def difference(text: str, look: Look) -> str:
    """What a change would do: lines, each clean; those that begin with + or - in the colours of a diff."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return "\n".join(look.paint(styles.get(line[:1], ""), line) for line in clean_lines(text).split("\n"))


def cells(text: str) -> int:
    """How many columns a terminal needs for it."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shorten(text: str, room: int) -> str:
    """At most ``room`` columns; what was cut is told by a …"""
    if cells(text) <= room:
        return text
    kept, used = "", 0
    for char in text:
        used += _cells_of(char)
        if used > room - 1:
            break
        kept += char
    return kept + "…" if room > 0 else ""


def age(seconds: float | None) -> str:
    """``3s``, ``5m``, ``2h``, ``9d``; ``-`` when there is none."""
    if seconds is None:
        return "-"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def size(count: float) -> str:
    """``512 B``, ``3.4 KB``, ``12 MB``."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def counted(number: int, noun: str) -> str:
    """``1 pane``, ``2 panes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def block(text: str, look: Look) -> str:
    """Text as it stands; fenced in Markdown, with a fence that the text itself does not hold."""
    if look.form != "markdown":
        return text
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def table(columns: Sequence[Column], items: Sequence[Any], look: Look) -> str:
    """Aligned rows under their titles, or a Markdown table. No items: an empty text."""
    columns = _fitting(columns, items, look) if look.form == "plain" and look.width else columns
    rows = [[clean(column.cell(item)) for column in columns] for item in items]
    if look.form == "markdown":
        return _markdown(columns, rows)
    head = [] if look.is_quiet else [[column.title for column in columns]]
    styles = [["bold"] * len(columns)] * len(head)
    styles += [[column.style_of(item) for column in columns] for item in items]
    widths = _widths(columns, head + rows, look.width)
    lines = [
        _line(columns, list(zip(row, painted, strict=True)), widths, look)
        for row, painted in zip(head + rows, styles, strict=True)
    ]
    return "\n".join(lines) if rows else ""


def _markdown(columns: Sequence[Column], rows: list[list[str]]) -> str:
    head = "| " + " | ".join(column.title for column in columns) + " |"
    rule = "|" + "|".join("--:" if column.is_right else "---" for column in columns) + "|"
    body = ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in rows]
    return "\n".join([head, rule, *body])


def escape(text: str) -> str:
    """Text that means nothing special inside a Markdown table cell."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


def _fitting(columns: Sequence[Column], items: Sequence[Any], look: Look) -> Sequence[Column]:
    """Without the extra columns for which there is no room."""
    needed = {id(column): _needed(column, items, look) for column in columns}
    kept = list(columns)
    for column in reversed(columns):
        if sum(needed[id(one)] + 2 for one in kept) - 2 <= look.width:
            break
        if column.is_extra:
            kept.remove(column)
    return kept


def _needed(column: Column, items: Sequence[Any], look: Look) -> int:
    """The columns of a terminal that it takes at least."""
    head = 0 if look.is_quiet else cells(column.title)
    widest = max([head, *(cells(clean(column.cell(item))) for item in items)])
    return min(widest, column.narrowest) if column.may_shrink else widest


def _widths(columns: Sequence[Column], rows: list[list[str]], room: int) -> list[int]:
    widths = [max((cells(row[index]) for row in rows), default=0) for index in range(len(columns))]
    excess = sum(widths) + 2 * (len(widths) - 1) - room if room else 0
    able = [index for index, column in enumerate(columns) if column.may_shrink]
    while excess > 0 and any(widths[index] > columns[index].narrowest for index in able):
        widest = max(able, key=lambda index: widths[index] - columns[index].narrowest)
        widths[widest] -= 1
        excess -= 1
    return widths


def _line(columns: Sequence[Column], row: list[tuple[str, str]], widths: list[int], look: Look) -> str:
    """A row of cells, each with its style."""
    shown = []
    for column, (cell, style), width in zip(columns, row, widths, strict=True):
        text = shorten(cell, width)
        pad = " " * (width - cells(text))
        painted = look.paint(style, text)
        shown.append(pad + painted if column.is_right else painted + pad)
    line = "  ".join(shown).rstrip()
    return shorten(line, look.width) if look.width and not look.colour else line
