"""Re-wrap help text to the terminal width, with hanging indents for list items and columns."""

import re
from textwrap import fill

_LIST_ITEM_START = re.compile(r"\s*(?:- |\d+\. )|\s+")
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
