"""Turn text from outside into styled text that cannot control the terminal.

Invariant: what comes from a pane, a title, a path or a message passes `strip_controls` or `parse_colored_row`, which
drop every escape sequence except colours, all control characters, direction marks and characters without a width.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

StyledPart = tuple[str, str]
"""A text and the name of its style in `STYLES`."""
_COLOUR_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m")
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
    r"|[\x90\x98\x9d\x9e\x9f][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
)
# Controls, direction marks, zero-width characters, variation selectors, surrogates, tags.
_DROPPED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_CACHE_SIZE = 4096

STYLES: dict[str, Style] = {
    "": Style(),
    "bold": Style(bold=True),
    "dim": Style(dim=True),
    "error": Style(color="red", bold=True),
    "waiting_approval": Style(color="yellow", bold=True),
    "waiting_input": Style(color="yellow"),
    "running": Style(color="green"),
    "completed": Style(color="cyan"),
    "idle": Style(dim=True),
    "unknown": Style(color="magenta", dim=True),
    "place": Style(color="cyan"),
    "warning": Style(color="yellow"),
    "heading": Style(bold=True, underline=True),
    "bar": Style(reverse=True),
    "alarm": Style(color="red", reverse=True, bold=True),
}
HIGH_CONTRAST: dict[str, Style] = {
    name: Style(bold=True, reverse=style.reverse, underline=style.underline)
    if name not in ("", "dim", "idle", "place")
    else Style()
    for name, style in STYLES.items()
}
"""Styles without dim text and without colours: bold, underlined and reversed text only."""


def strip_controls(text: str) -> str:
    """Return one line without escape sequences, control characters and invisible characters."""
    return _DROPPED.sub("", _ESCAPE_SEQUENCE.sub("", text.replace("\t", " ").replace("\n", " ")))


def strip_lines(text: str) -> list[str]:
    """Return the cleaned lines of a text."""
    return [strip_controls(line.expandtabs(8)) for line in text.splitlines()]


def build_strip(parts: Iterable[StyledPart], width: int, styles: dict[str, Style], base: Style | None = None) -> Strip:
    """Return one row of exactly this width."""
    base = base or Style()
    segments = [Segment(strip_controls(text), styles.get(name, styles[""]) + base) for text, name in parts if text]
    return Strip(segments).adjust_cell_length(width, base)


def parse_colored_row(row: str) -> tuple[Segment, ...]:
    """Parse a row with colours as segments; everything else that controls a terminal is dropped."""
    segments, attributes, position = [], TextAttributes(), 0
    for match in _COLOUR_SEQUENCE.finditer(row):
        if text := strip_controls(row[position : match.start()]):
            segments.append(Segment(text, build_style(attributes)))
        attributes, position = apply_codes(attributes, match[1]), match.end()
    if text := strip_controls(row[position:]):
        segments.append(Segment(text, build_style(attributes)))
    return tuple(segments)


class TextAttributes(Struct, frozen=True):
    """The attributes of a text. Concealed and blinking text is shown like any other."""

    foreground: str = ""
    background: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


_FLAGS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_CLEARED = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}


@lru_cache(maxsize=_CACHE_SIZE)
def apply_codes(attributes: TextAttributes, codes: str) -> TextAttributes:
    """Return the attributes after a colour sequence."""
    numbers = [int(part) if part.isdigit() and len(part) < 5 else 0 for part in re.split("[;:]", codes)]
    index = 0
    while index < len(numbers):
        attributes, used = _apply_code(attributes, numbers[index:])
        index += used
    return attributes


def _apply_code(attributes: TextAttributes, numbers: Sequence[int]) -> tuple[TextAttributes, int]:
    """Apply the first code; return how many numbers belong to it."""
    code = numbers[0]
    if code == 0:
        return TextAttributes(), 1
    if code in _FLAGS:
        return replace(attributes, **{_FLAGS[code]: True}), 1
    if code in _CLEARED:
        return replace(attributes, **dict.fromkeys(_CLEARED[code], False)), 1
    name = "background" if code in (48, 49) or 40 <= code <= 47 or 100 <= code <= 107 else "foreground"
    if code in (38, 48):
        color, used = _parse_extended_color(numbers[1:])
        return (replace(attributes, **{name: color}) if color else attributes), 1 + used
    if code in (39, 49):
        return replace(attributes, **{name: ""}), 1
    for first, offset in ((30, 0), (40, 0), (90, 8), (100, 8)):
        if first <= code <= first + 7:
            return replace(attributes, **{name: str(code - first + offset)}), 1
    return attributes, 1


def _parse_extended_color(numbers: Sequence[int]) -> tuple[str, int]:
    if numbers[:1] == [5] and len(numbers) >= 2:
        return str(min(numbers[1], 255)), 2
    if numbers[:1] == [2] and len(numbers) >= 4:
        red, green, blue = (min(number, 255) for number in numbers[1:4])
        return f"#{red:02x}{green:02x}{blue:02x}", 4
    return "", len(numbers)


@lru_cache(maxsize=_CACHE_SIZE)
def build_style(attributes: TextAttributes) -> Style:
    return Style(
        color=_build_color(attributes.foreground),
        bgcolor=_build_color(attributes.background),
        bold=attributes.bold or None,
        dim=attributes.dim or None,
        italic=attributes.italic or None,
        underline=attributes.underline or None,
        reverse=attributes.reverse or None,
        strike=attributes.strike or None,
    )


def _build_color(name: str) -> Color | None:
    if not name:
        return None
    return Color.parse(name) if name.startswith("#") else Color.from_ansi(int(name))
