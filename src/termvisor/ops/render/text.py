"""Render sentences, ages, sizes and sanitized text as plain text or Markdown, folded to the width of the terminal.

Invariant: text captured from a pane passes `sanitize` before it is printed, so that it cannot move the cursor, set the
title or forge a row in the user's terminal.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from termvisor.clock import compute_seconds_between, parse_timestamp
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
    """Output format and properties of the client's terminal.

    ``width`` 0: no limit, and values in full. ``home`` is the folder that is shown as `~`.
    """

    width: int = 80
    colour: bool = False
    now: int = 0
    format: OutputFormat = "plain"
    is_terminal: bool = False
    is_quiet: bool = False
    home: str = ""

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{_SGR_CODES[style]}m{text}\x1b[0m" if self.colour and style and text else text


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
    """Cut a text to ``max_width`` columns, ending in … if it was cut; between two words where that costs little."""
    if measure_width(text) <= max_width:
        return text
    kept = _take_columns(text, max_width - 1)
    words, space, _part = kept.rpartition(" ")
    # A word that would leave more than half of the room empty is cut instead.
    if space and text[len(kept)] != " " and measure_width(words) >= max_width // 2:
        kept = words
    return kept.rstrip() + "…" if max_width > 0 else ""


def _take_columns(text: str, max_width: int) -> str:
    """Return the longest start of a text that fits."""
    used = 0
    for index, char in enumerate(text):
        used += _measure_char(char)
        if used > max_width:
            return text[:index]
    return text


def shorten_middle(path: str, max_width: int) -> str:
    """Shorten a path in the middle, between folders where possible: `~/work/…/importer`."""
    if measure_width(path) <= max_width:
        return path
    parts = path.split("/")
    candidates = [
        "/".join([*parts[:kept_first], "…", *parts[-kept_last:]])
        for kept_first in (2, 1)
        for kept_last in range(len(parts) - kept_first - 1, 0, -1)
    ]
    fitting = [candidate for candidate in candidates if measure_width(candidate) <= max_width]
    if fitting:
        return max(fitting, key=len)
    end = _take_columns(path[::-1], max_width - 1)[::-1]
    return f"…{end}" if max_width > 0 else ""


def shorten_home(path: str, options: RenderOptions) -> str:
    """Return a path with `~` for the home folder, in a terminal."""
    home = options.home.rstrip("/")
    if options.width and home and (path == home or path.startswith(f"{home}/")):
        return "~" + path[len(home) :]
    return path


def format_time(at: str, options: RenderOptions) -> str:
    """Format a time (ISO 8601) as `2m ago` or `in 1h` in a terminal; return it as is elsewhere, or if it is
    a word such as `open`.
    """
    if not options.width or not at[:1].isdigit():
        return at
    seconds = compute_seconds_between(parse_timestamp(at, options.now), options.now)
    return f"{format_age(seconds)} ago" if seconds >= 0 else f"in {format_age(-seconds)}"


def format_moment(at: str, options: RenderOptions) -> str:
    """Format a time within a sentence: `2m ago` or `in 1h` in a terminal, `at 2026-…` elsewhere."""
    return format_time(at, options) if options.width else f"at {at}"


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


def escape_markdown(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


# Indented lines and list items keep their own line.
_LIST_ITEM_START = re.compile(r"\s*(?:- |\d+\. )|\s+")
# Two or more spaces separate the columns of a line; the text of the last one is folded below itself.
_LINE_HEAD = re.compile(r"\s*(?:- |\d+\. )?(?:\S+(?: \S+)*\s{2,}(?=\S))*")
_SPACES_OR_WORD = re.compile(r" +|[^ ]+")
# Columns in which a text is still easy to read.
_ENOUGH_WIDTH = 30
# Indentation of a text whose first column is too wide to continue beside it.
_NARROW_INDENT = 4


def wrap_text(text: str, width: int) -> str:
    """Join the lines of each paragraph and fold them to ``width``; 0 leaves the text unchanged."""
    if width <= 0:
        return text
    return wrap_lines("\n\n".join(_join_paragraph(part) for part in text.split("\n\n")), width)


def _join_paragraph(text: str) -> str:
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
    return "\n".join(lines)


def wrap_lines(text: str, width: int) -> str:
    """Fold lines wider than ``width`` at spaces; 0 leaves the text unchanged. A wider word stays whole."""
    return "\n".join(_wrap_line(line, width) for line in text.split("\n")) if width > 0 else text


def _wrap_line(line: str, width: int) -> str:
    """Fold a long line, indented to its last column or to the text of its list item."""
    visible = _SGR_SEQUENCE.sub("", line)
    if measure_width(visible) <= width:
        return line
    match = _LINE_HEAD.match(visible)
    head_width = match.end() if match else 0
    is_beside = head_width <= max(width // 2, width - _ENOUGH_WIDTH)
    indent = head_width if is_beside else len(visible) - len(visible.lstrip()) + _NARROW_INDENT
    lines, used, position, spaces = [""], 0, 0, ""
    for token in _SPACES_OR_WORD.findall(line):
        word = _SGR_SEQUENCE.sub("", token)
        word_width = measure_width(word)
        if not word.isspace():
            is_new_column = position == head_width and not is_beside
            is_foldable = lines[-1].strip() and (position >= head_width or not is_beside)
            if is_foldable and (is_new_column or used + len(spaces) + word_width > width):
                # A word that fits only without indentation is more readable whole.
                spaces, used = " " * max(0, min(indent, width - word_width)), 0
                lines.append("")
            lines[-1] += spaces + token
            used += len(spaces) + word_width
        spaces, position = token if word.isspace() else "", position + len(word)
    return "\n".join(lines)


def suggest_name(name: str, known: Sequence[str], otherwise: str) -> str:
    """Return a hint with the known name closest to a misspelled one, else ``otherwise``."""
    near = find_close_matches(name, known)
    return f"Did you mean {near[0]}?" if near else otherwise
