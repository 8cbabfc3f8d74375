"""Write runs of text, newlines and colours to a row window. The result is that of single tokens, but sooner.

A run is *plain* if the cursor is at the end of the text when it begins, and stays there. Then lines that scroll off
within the run settle without being cut into rows.
"""

import re

from termvisor.terminal.cell_writer import put_cells, write_text
from termvisor.terminal.row_window import RowWindow, SettledLine
from termvisor.terminal.screen_row import LINE_LIMIT, Row, has_zero_width, is_all_narrow, widen_text
from termvisor.terminal.utf8_text import decode_text
from termvisor.terminal.window_controls import move_to_tab_stop

_TAB_WIDTH = 8
_JOINER_BYTES = "\u200d".encode()
# Sequences that are part of runs; none of them changes the text.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;:?]*[A-Za-z]|\(B)")
_SEQUENCES = re.compile(rb"(?:\x1b(?:\[[0-9;:?]*[A-Za-z]|\(B))+")
_LAST_SEQUENCES = re.compile(_SEQUENCES.pattern + rb"\Z")


def write_run(window: RowWindow, text: str, data: bytes, start: int) -> None:
    """Write a run anywhere on the screen; ``data`` are its bytes, which begin at offset ``start``."""
    if "\x1b" in text:
        text = _SEQUENCE.sub("", text)
    lines, raw_lines = text.split("\n"), data.split(b"\n")
    last = len(lines) - 1
    for number, line in enumerate(lines):
        raw = raw_lines[number]
        if line:
            _write_line(window, line, raw, start)
        start += len(raw) + 1
        if number < last:
            window.feed_line(start)


def _write_line(window: RowWindow, line: str, raw: bytes, start: int) -> None:
    if "\r" not in line:
        _write_segment(window, line, raw, start)
        return
    for number, (text, part) in enumerate(zip(line.split("\r"), raw.split(b"\r"), strict=True)):
        if number:
            window.x, window.is_moved = 0, True
        if text:
            _write_segment(window, text, part, start)
        start += len(part) + 1


def _write_segment(window: RowWindow, text: str, raw: bytes, start: int) -> None:
    """Write text with colours and tabs."""
    if "\t" in text:
        for number, part in enumerate(raw.split(b"\t")):
            if number:
                move_to_tab_stop(window, 1)
            _write_parts(window, part, start)
            start += len(part) + 1
    elif b"\x1b" not in raw:
        write_text(window, text, raw, start)
    else:
        _write_colored(window, text, raw, start)


def _write_colored(window: RowWindow, text: str, raw: bytes, start: int) -> None:
    is_simple = window.autowrap and not window.is_insert and not window.joins_next
    is_narrow = is_all_narrow(text)
    cells = text if is_narrow else widen_text(text)
    if not is_simple or window.x + len(cells) > window.width or not (is_narrow or not has_zero_width(text)):
        _write_parts(window, raw, start)
        return
    head, tail = _SEQUENCES.match(raw), _LAST_SEQUENCES.search(raw)
    end = start + (tail.start() if tail else len(raw))
    put_cells(window, cells, start + head.end() if head else start, end)


def _write_parts(window: RowWindow, raw: bytes, start: int) -> None:
    """Write the text between sequences part by part, so that each row gets the offsets of its own bytes."""
    position = 0
    for match in (*_SEQUENCES.finditer(raw), None):
        part = raw[position : match.start() if match else len(raw)]
        if part:
            write_text(window, decode_text(part)[0], part, start + position)
        position = match.end() if match else len(raw)


def write_lines(window: RowWindow, text: str, data: bytes, start: int) -> bool:
    """Write a plain run with newlines at once; return False if it must be written by write_run()."""
    has_sequences, is_ascii = "\x1b" in text, text.isascii()
    if has_sequences:
        text = _SEQUENCE.sub("", text)
    has_tabs = "\t" in text
    if has_tabs:
        if not is_ascii or "\t\r" in text or text.endswith("\t"):
            return False
        head, newline, tail = text.partition("\n")
        text = head + newline + tail.expandtabs(_TAB_WIDTH)
    lines = text.split("\n")
    is_narrow = is_ascii or is_all_narrow(text)
    # In a pane of one column, a wide character is not shown.
    if len(max(lines, key=len)) > LINE_LIMIT or not (is_narrow or (window.width > 1 and not has_zero_width(text))):
        return False
    is_simple = is_ascii and not (has_sequences or has_tabs)
    sizes = list(map(len, lines if is_simple else data.split(b"\n")))
    size = sizes.pop(0)
    _end_line(window, lines.pop(0).rstrip("\r"), data[:size], start)
    start += size + 1
    surplus = len(lines) - window.height
    if surplus > 0:
        start = _settle_lines(window, lines[:surplus], sizes[:surplus], start)
        del lines[:surplus], sizes[:surplus]
    if _measure_widest(lines, sizes, window.width, is_narrow=is_narrow) > window.width:
        window.begin_row(start)
        rest = data[len(data) - sum(sizes) - len(sizes) + 1 :]
        write_run(window, decode_text(rest)[0], rest, start)
    else:
        _append_rows(window, lines, sizes, start, data, has_wide=not is_narrow)
    return True


def _measure_widest(lines: list[str], sizes: list[int], width: int, *, is_narrow: bool) -> int:
    """Return the columns of the widest line, or more, if even that is not more than ``width``."""
    if is_narrow:
        return len(max(lines, key=len).rstrip("\r"))
    # A wide character has at least three bytes.
    widest = max([(len(line) + size) // 2 + 1 for line, size in zip(lines, sizes, strict=True)])
    return widest if widest <= width else max(len(widen_text(line).rstrip("\r")) for line in lines)


def _end_line(window: RowWindow, line: str, raw: bytes, start: int) -> None:
    """Write the first line of a run and end its row."""
    row, end = window.rows[window.y], start + len(raw) + 1
    cells = widen_text(line)
    if line and row.end >= 0 and window.x + len(cells) <= window.width and "\t" not in line:
        row.cells += cells
    elif line:
        _write_segment(window, line, raw.rstrip(b"\r"), start)
        row = window.rows[window.y]
    if row.end < 0:
        row.start = end - 1
    row.end, row.at = end, window.at


def _settle_lines(window: RowWindow, lines: list[str], sizes: list[int], start: int) -> int:
    """Settle the rows down to the cursor, and lines that leave the window within this run; return the next offset."""
    window.offset = start
    window.settle_rows(window.rows[: window.y + 1])
    append, at = window.settled_lines.append, window.at
    for line, size in zip(lines, sizes, strict=True):
        end = start + size + 1
        append(SettledLine(line.rstrip(" \r"), start, end, at))
        start = end
    window.settled_count += len(lines)
    window.count_scrolled(sum(max(1, -(-len(line) // window.width)) for line in lines))
    window.rows, window.x, window.y = window.build_blank_rows(window.height), 0, -1
    return start


def _append_rows(
    window: RowWindow, lines: list[str], sizes: list[int], start: int, data: bytes, *, has_wide: bool
) -> None:
    """Write lines, each of which fits into a row, below the cursor's row."""
    at, height = window.at, window.height
    rows = window.rows[: window.y + 1]
    append = rows.append
    last, last_size = lines.pop(), sizes.pop()
    for line, size in zip(lines, sizes, strict=True):
        end = start + size + 1
        append(Row(line.rstrip("\r"), start, end, at))
        start = end
    if has_wide:
        for row in rows[window.y + 1 :]:
            row.is_text = not row.cells.isascii()
    end = start
    if last:
        tail = _LAST_SEQUENCES.search(data, len(data) - last_size)
        end += last_size - (len(tail[0]) if tail else 0)
        last = widen_text(last)
    append(Row(last, start, end, at))
    surplus = len(rows) - height
    if surplus > 0:
        window.rows = rows[surplus:]
        window.y = height - 1
        window.settle_rows(rows[:surplus])
    else:
        window.rows[: len(rows)] = rows
        window.y = len(rows) - 1
    window.x, window.is_moved = len(last), False
    window.low = max(window.low, window.y)


def find_last_character(data: bytes) -> str:
    """Return the last character of a run if it is printable ASCII and no sequence follows it, else an empty string."""
    last = data[-1:]
    return last.decode() if b" " <= last <= b"~" and _LAST_SEQUENCES.search(data) is None else ""


def skip_erased(window: RowWindow, data: bytes, end: int) -> bool:
    """Skip text that is written to a fresh row and erased again; return False if it may be longer than the row."""
    # Most parts fit even with their sequences, which need not be removed then.
    if not _has_short_parts(data, window.width):
        text = _SEQUENCES.sub(b"", data) if data.count(b"\x1b") > data.count(b"\r") else data.replace(b"\x1b[", b"")
        if not _has_short_parts(text, window.width):
            return False
    if _JOINER_BYTES in data:
        return False
    row = window.rows[window.y]
    row.start, row.end, row.at = end, -1, window.at
    if row.anchors:
        row.anchors = tuple((mark, True) for mark, _ in row.anchors)
    window.offset, window.is_moved = end, True
    return True


def _has_short_parts(data: bytes, width: int) -> bool:
    """Return True if no part between carriage returns has more bytes than the row has columns."""
    return len(max(data.split(b"\r"), key=len)) <= width
