"""Render tables, ages, sizes and sanitized text as plain text or Markdown.

Invariant: text captured from a pane passes `sanitize` before it is printed, so that it cannot move the cursor, set the
title or forge a row in the user's terminal.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from textwrap import fill
from typing import Any, Literal

from msgspec import Struct

from termvisor.model.did_you_mean import find_close_matches

OutputFormat = Literal["json", "markdown", "plain"]
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_SGR_SEQUENCE = re.compile(r"\x1b\[[0-9;:]*m")
# Direction marks and line separators can make a text look like a different one.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_SGR_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class RenderOptions(Struct, frozen=True, kw_only=True):
    """Output format and properties of the client's terminal. ``width`` 0: no limit."""

    width: int = 80
    colour: bool = False
    now: int = 0
    format: OutputFormat = "plain"
    is_terminal: bool = False
    is_quiet: bool = False

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{_SGR_CODES[style]}m{text}\x1b[0m" if self.colour and style else text


class TableColumn(Struct, frozen=True):
    """One column. If the table is too wide, ``can_shrink`` columns are shortened down to ``min_width``; if that is not
    enough, ``is_optional`` columns are dropped, the last one first. ``choose_style`` overrides ``style`` per item.
    """

    title: str
    render_cell: Callable[[Any], str]
    is_right_aligned: bool = False
    can_shrink: bool = False
    style: str = ""
    choose_style: Callable[[Any], str] | None = None
    min_width: int = 8
    is_optional: bool = False

    def get_style(self, item: Any) -> str:
        return self.style if self.choose_style is None else self.choose_style(item)


def sanitize(text: str) -> str:
    """Return one line without control characters, escape sequences and invisible direction marks."""
    # Remove whole sequences first: if only its ESC were removed, the rest of a sequence would remain as text.
    return _INVISIBLE.sub("", _ESCAPE_SEQUENCE.sub("", text)).replace("\t", " ").replace("\n", " ")


def sanitize_lines(text: str) -> str:
    """Sanitize several lines; keep newlines and tabs."""
    return _INVISIBLE.sub("", _ESCAPE_SEQUENCE.sub("", text))


def sanitize_keep_colours(text: str) -> str:
    """Sanitize a line but keep SGR colours, reset at the end."""
    parts = _SGR_SEQUENCE.split(text)
    colours = _SGR_SEQUENCE.findall(text)
    joined = sanitize(parts[0]) + "".join(
        colour + sanitize(part) for colour, part in zip(colours, parts[1:], strict=True)
    )
    return joined + "\x1b[0m" if colours else joined


def render_diff(text: str, options: RenderOptions) -> str:
    """Sanitize a preview of a change and colour its lines as a diff."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return "\n".join(options.paint(styles.get(line[:1], ""), line) for line in sanitize_lines(text).split("\n"))


def measure_width(text: str) -> int:
    """Return the number of terminal columns of a text."""
    return len(text) if text.isascii() else sum(map(_measure_char, text))


def _measure_char(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shorten(text: str, max_width: int) -> str:
    """Cut a text to ``max_width`` columns, ending in … if it was cut."""
    if measure_width(text) <= max_width:
        return text
    kept, used = "", 0
    for char in text:
        used += _measure_char(char)
        if used > max_width - 1:
            break
        kept += char
    return kept + "…" if max_width > 0 else ""


def format_age(seconds: float | None) -> str:
    """Format seconds as ``3s``, ``5m``, ``2h`` or ``9d``; None as ``-``."""
    if seconds is None:
        return "-"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def format_bytes(byte_count: float) -> str:
    """Format a size as ``512 B``, ``3.4 KB`` or ``120 MB`` (decimal units)."""
    for unit in ("B", "KB", "MB", "GB"):
        if byte_count < 1000 or unit == "GB":
            return f"{byte_count:.0f} {unit}" if unit == "B" or byte_count >= 100 else f"{byte_count:.1f} {unit}"
        byte_count /= 1000
    return ""


def pluralize(number: int, noun: str) -> str:
    """Return ``1 pane`` or ``2 panes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def render_code_block(text: str, options: RenderOptions) -> str:
    """Return the text; in Markdown as a code block, with a fence longer than any in the text."""
    if options.format != "markdown":
        return text
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def render_table(columns: Sequence[TableColumn], items: Sequence[Any], options: RenderOptions) -> str:
    """Render an aligned or Markdown table; empty if there are no items."""
    columns = (
        _drop_optional_columns(columns, items, options) if options.format == "plain" and options.width else columns
    )
    rows = [[sanitize(column.render_cell(item)) for column in columns] for item in items]
    if options.format == "markdown":
        return _render_markdown_table(columns, rows)
    head = [] if options.is_quiet else [[column.title for column in columns]]
    styles = [["bold"] * len(columns)] * len(head)
    styles += [[column.get_style(item) for column in columns] for item in items]
    widths = _compute_widths(columns, head + rows, options.width)
    lines = [
        _render_row(columns, list(zip(row, painted, strict=True)), widths, options)
        for row, painted in zip(head + rows, styles, strict=True)
    ]
    return "\n".join(lines) if rows else ""


def _render_markdown_table(columns: Sequence[TableColumn], rows: list[list[str]]) -> str:
    head = "| " + " | ".join(column.title for column in columns) + " |"
    rule = "|" + "|".join("--:" if column.is_right_aligned else "---" for column in columns) + "|"
    body = ["| " + " | ".join(escape_markdown(cell) for cell in row) + " |" for row in rows]
    return "\n".join([head, rule, *body])


def escape_markdown(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


def _drop_optional_columns(
    columns: Sequence[TableColumn], items: Sequence[Any], options: RenderOptions
) -> Sequence[TableColumn]:
    """Return the columns that fit, dropping optional ones from the right."""
    needed = {id(column): _measure_min_width(column, items, options) for column in columns}
    kept = list(columns)
    for column in reversed(columns):
        # Two spaces separate the columns.
        if sum(needed[id(candidate)] + 2 for candidate in kept) - 2 <= options.width:
            break
        if column.is_optional:
            kept.remove(column)
    return kept


def _measure_min_width(column: TableColumn, items: Sequence[Any], options: RenderOptions) -> int:
    """Return the minimum width of a column in terminal columns."""
    head = 0 if options.is_quiet else measure_width(column.title)
    widest = max([head, *(measure_width(sanitize(column.render_cell(item))) for item in items)])
    return min(widest, column.min_width) if column.can_shrink else widest


def _compute_widths(columns: Sequence[TableColumn], rows: list[list[str]], max_width: int) -> list[int]:
    widths = [max((measure_width(row[index]) for row in rows), default=0) for index in range(len(columns))]
    excess = sum(widths) + 2 * (len(widths) - 1) - max_width if max_width else 0
    shrinkable = [index for index, column in enumerate(columns) if column.can_shrink]
    # One column at a time from the widest, so that none is cut more than necessary.
    while excess > 0 and any(widths[index] > columns[index].min_width for index in shrinkable):
        widest = max(shrinkable, key=lambda index: widths[index] - columns[index].min_width)
        widths[widest] -= 1
        excess -= 1
    return widths


def _render_row(
    columns: Sequence[TableColumn], cells: list[tuple[str, str]], widths: list[int], options: RenderOptions
) -> str:
    """Render one row of cells, each with its own style."""
    padded = []
    for column, (cell, style), width in zip(columns, cells, widths, strict=True):
        text = shorten(cell, width)
        pad = " " * (width - measure_width(text))
        painted = options.paint(style, text)
        padded.append(pad + painted if column.is_right_aligned else painted + pad)
    line = "  ".join(padded).rstrip()
    # Escape sequences of a painted row would be counted and cut as text.
    return shorten(line, options.width) if options.width and not options.colour else line


# Indented lines and list items keep their own line.
_LIST_ITEM_START = re.compile(r"\s*(?:- |\d+\. )|\s+")
# Two or more spaces separate the columns of a help row.
_FIRST_COLUMN = re.compile(r"\s+\S.*?\s{2,}(?=\S)")


def wrap_text(text: str, width: int) -> str:
    """Wrap paragraphs, list items and two-column rows to ``width``; 0 leaves the text unchanged."""
    if width <= 0:
        return text
    return "\n\n".join(_wrap_paragraph(part, width) for part in text.split("\n\n"))


def _wrap_paragraph(text: str, width: int) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        if (
            lines
            and not _LIST_ITEM_START.match(line)
            and not _LIST_ITEM_START.match(lines[-1])
            and not lines[-1].endswith(":")
        ):
            lines[-1] += " " + line
        else:
            lines.append(line)
    return "\n".join(_wrap_line(line, width) for line in lines)


def _wrap_line(line: str, width: int) -> str:
    """Wrap a long line, indented to the second column of a row or the text of a list item."""
    if len(line) <= width:
        return line
    start = _FIRST_COLUMN.match(line) or _LIST_ITEM_START.match(line)
    head = start[0] if start else ""
    indent = " " * min(len(head), width // 2)
    filled = fill(
        line[len(head) :],
        width,
        initial_indent=head,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled or line


def suggest_name(name: str, known: Sequence[str], otherwise: str) -> str:
    """Return a hint with the known name closest to a misspelled one, else ``otherwise``."""
    near = find_close_matches(name, known)
    return f"Did you mean {near[0]}?" if near else otherwise
