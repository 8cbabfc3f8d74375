"""Make captured rows with colours independent of each other, because tmux carries colours over to the next row. Pure.

Invariant of make_rows_self_contained(): each row can be painted on its own, begins and ends without colours, and has no
escape sequences other than SGR. Letters of the line-drawing character set are replaced with the lines they stand for.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b\[(?P<sgr>[0-9;:]*)m|(?P<shift>[\x0e\x0f])"
    r"|\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\x00-\x1f\x7f-\x9f]"
)
_LINE_DRAWING_MAP = str.maketrans("`afgijklmnopqrstuvwxyz{|}~+,-.0h", "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·→←↑↓█▒")
_ATTRIBUTE_BY_CODE = {
    **dict.fromkeys((*range(30, 39), *range(90, 98)), "ink"),
    **dict.fromkeys((*range(40, 49), *range(100, 108)), "paper"),
    **{58: "rule", 1: "bold", 2: "dim", 3: "italic", 4: "underline", 21: "underline", 5: "blink", 6: "blink"},
    **{7: "reverse", 8: "hidden", 9: "strike", 53: "overline"},
}
_ATTRIBUTES_RESET_BY_CODE = {
    **{39: ("ink",), 49: ("paper",), 59: ("rule",), 22: ("bold", "dim"), 23: ("italic",), 24: ("underline",)},
    **{25: ("blink",), 27: ("reverse",), 28: ("hidden",), 29: ("strike",), 55: ("overline",)},
}


def make_rows_self_contained(rows: Sequence[str]) -> list[str]:
    pen = _SgrPen()
    return [pen.draw_row(row) for row in rows]


class _SgrPen:
    """The SGR attributes and character set of the next cell."""

    def __init__(self) -> None:
        self._attributes: dict[str, str] = {}
        self._draws_lines = False

    def draw_row(self, row: str) -> str:
        output, active, position = "", "", 0
        for match in _ESCAPE_SEQUENCE.finditer(row):
            output, active = self._append_cells(row[position : match.start()], output, active)
            position = match.end()
            if match["sgr"] is not None:
                self._apply_parameters(match["sgr"])
            elif match["shift"]:
                self._draws_lines = match["shift"] == "\x0e"
        output, active = self._append_cells(row[position:], output, active)
        return f"{output}\x1b[0m" if active else output.rstrip(" ")

    def _append_cells(self, text: str, output: str, active: str) -> tuple[str, str]:
        """Return the output with these cells appended, and the attributes in effect after them."""
        if not text:
            return output, active
        codes = ";".join(self._attributes.values())
        if codes != active:
            output += f"\x1b[0;{codes}m" if active and codes else f"\x1b[{codes or 0}m"
        return output + (text.translate(_LINE_DRAWING_MAP) if self._draws_lines else text), codes

    def _apply_parameters(self, parameters: str) -> None:
        words = iter(parameters.split(";"))
        for word in words:
            head = word.partition(":")[0] or "0"
            code = int(head[:4])
            if code == 0:
                self._attributes.clear()
            elif attribute_name := _ATTRIBUTE_BY_CODE.get(code):
                self._attributes[attribute_name] = (
                    ";".join([word, *_take_color_words(words)]) if word in ("38", "48", "58") else word
                )
            for attribute in _ATTRIBUTES_RESET_BY_CODE.get(code, ()):
                self._attributes.pop(attribute, None)


def _take_color_words(words: Iterator[str]) -> list[str]:
    """Return the parameters that follow 38, 48 or 58: ``5;n`` or ``2;r;g;b``."""
    kind = next(words, "")
    return [kind, *islice(words, {"5": 1, "2": 3}.get(kind, 0))]
