"""Write, erase, insert and delete cells at the cursor of a row window, as tmux does."""

from termvisor.terminal.row_window import RowWindow
from termvisor.terminal.screen_row import (
    FILLER,
    INVALID,
    has_zero_width,
    is_all_narrow,
    measure_character,
    widen_text,
)
from termvisor.terminal.utf8_text import iterate_characters, measure_bytes

_JOINER = "\u200d"
_REPLACEMENT = "\ufffd"


def write_text(window: RowWindow, text: str, data: bytes, start: int) -> None:
    """Write characters at the cursor; ``data`` are their bytes, which begin at offset ``start``."""
    cells = text
    if not text.isascii() and (window.joins_next or not is_all_narrow(text)):
        if window.joins_next or has_zero_width(text):
            _write_mixed(window, data, start)
            return
        cells = widen_text(text)
    window.joins_next = False
    if window.x + len(cells) <= window.width and window.autowrap and not window.is_insert:
        put_cells(window, cells, start, start + len(data))
    elif window.is_insert and window.x + len(cells) < window.width:
        insert_cells(window, len(cells))
        put_cells(window, cells, start, start + len(data))
    elif window.is_insert or not window.autowrap:
        _write_singly(window, data, start)
    else:
        _write_wrapped(window, cells, text, data, start)


def _write_wrapped(window: RowWindow, cells: str, text: str, data: bytes, start: int) -> None:
    """Write cells that do not fit into the cursor's row."""
    while window.x + len(cells) > window.width:
        stop = window.width - window.x
        if cells[stop : stop + 1] == FILLER:
            stop -= 1
        count = stop - cells.count(FILLER, 0, stop)
        size = measure_bytes(data, text, count)
        if stop:
            put_cells(window, cells[:stop], start, start + size)
        elif window.x == 0:
            # A wide character in a pane of one column is not shown.
            stop, count, size = 2, 1, measure_bytes(data, text, 1)
        start, data, text, cells = start + size, data[size:], text[count:], cells[stop:]
        if cells and window.x:
            window.wrap_line(start)
    if cells:
        put_cells(window, cells, start, start + len(data))


def _write_mixed(window: RowWindow, data: bytes, start: int) -> None:
    """Write a text with zero-width characters."""
    text, first, position = "", start, start
    for character, size in iterate_characters(data):
        is_joined = window.joins_next and not text and not character.isascii()
        if is_joined or (character and not measure_character(character)):
            if text:
                write_text(window, text, data[first - start : position - start], first)
            text, first = "", position + size
            _combine_character(window, character, first)
        elif character:
            text += character
            window.joins_next = False
        position += size
    if text:
        write_text(window, text, data[first - start :], first)


def _combine_character(window: RowWindow, character: str, end: int) -> None:
    """Combine a character with the cell before the cursor; after a joiner also one that has a width."""
    if character == _JOINER:
        window.joins_next = True
        return
    if window.joins_next and character != INVALID:
        window.joins_next = False
        combine_cell(window, _JOINER, end)
    combine_cell(window, _REPLACEMENT if character == INVALID else character, end)


def combine_cell(window: RowWindow, character: str, end: int) -> None:
    """Combine a zero-width character with the cell before the cursor; in the first column it is dropped."""
    if window.x == 0:
        return
    row, column = window.rows[window.y], window.x - 1
    row.expand()
    if character == _REPLACEMENT and column >= len(row.cells):
        # tmux shows nothing for such a byte, so it must not fill the row up to the cursor either.
        return
    if row.is_ghost:
        window.touch_ghost(window.y)
    if column >= len(row.cells):
        row.cells = row.cells.ljust(column + 1)
    while column and row.cells[column] == FILLER:
        column -= 1
    window.low = max(window.low, window.y)
    if row.combine(column, character):
        if row.end < 0:
            row.start = end
        row.end, row.at = end, window.at


def _write_singly(window: RowWindow, data: bytes, start: int) -> None:
    """Write with insert mode on or autowrap off."""
    position, is_ascii = 0, data.isascii()
    characters = iterate_characters(data)
    while position < len(data):
        room = window.width - 1 - window.x
        if is_ascii and window.is_insert and room > 0:
            part = data[position : position + room]
            insert_cells(window, len(part))
            put_cells(window, part.decode(), start + position, start + position + len(part))
            position += len(part)
            continue
        character, size = next(characters) if not is_ascii else (chr(data[position]), 1)
        _write_character(window, character, start + position, size)
        position += size


def _write_character(window: RowWindow, character: str, start: int, size: int) -> None:
    cells = widen_text(character)
    if window.is_insert:
        insert_cells(window, len(cells))
    if window.autowrap and window.x + len(cells) > window.width:
        window.wrap_line(start)
    if window.x + len(cells) <= window.width:
        put_cells(window, cells, start, start + size)
        window.x = min(window.x, window.width - (not window.autowrap))


def put_cells(window: RowWindow, cells: str, start: int, end: int) -> None:
    """Write cells that fit into the cursor's row; ``start`` and ``end`` are the offsets of their bytes."""
    x, row = window.x, window.rows[window.y]
    if row.is_ghost:
        window.touch_ghost(window.y)
    if row.is_text:
        row.expand()
    shown, stop = row.cells, x + len(cells)
    if x == len(shown) and not (window.is_moved and x):
        row.cells = shown + cells
    else:
        if window.frozen is None and (x < len(shown) or window.is_moved):
            window.note_overwrite(window.y, x, stop, cells)
        if FILLER in shown:
            # The filler may have lost its own character to DCH; tmux blanks the cell before it all the same.
            if x and shown[x : x + 1] == FILLER and (shown[x - 1] == FILLER or measure_character(shown[x - 1]) == 2):
                row.replace_cells(x - 1, x, " ")
            if shown[stop : stop + 1] == FILLER:
                row.replace_cells(stop, stop + 1, " ")
        row.replace_cells(x, stop, cells)
    if row.end < 0:
        row.start = start
    row.end, row.at, window.x, window.is_moved = end, window.at, stop, False
    window.low = max(window.low, window.y)


def erase_cells(window: RowWindow, y: int, first: int, stop: int) -> None:
    """Erase columns of a row that are not all of it."""
    row = window.rows[y]
    row.expand()
    stop = min(stop, len(row.cells))
    if first < stop and row.cells[first:stop].strip(" "):
        _change_cells(window, y, first, stop, " " * (stop - first))


def erase_row(window: RowWindow, y: int) -> None:
    """Erase a whole row; the line above no longer continues in it."""
    row = window.rows[y]
    if row.is_wrapped or (window.rows[y - 1].is_wrapped if y else window.head is not None):
        window.clear_rows(y, y + 1)
    elif row.cells:
        window.note_loss(y)
        window.clear_row(row)


def insert_cells(window: RowWindow, count: int) -> None:
    """Insert blanks at the cursor. As in tmux, so many that nothing remains behind them are not inserted."""
    x, width, row = window.x, window.width, window.rows[window.y]
    moved = width - x - count
    row.expand()
    if x >= width - 1:
        erase_cells(window, window.y, x, x + 1)
    elif moved > 0:
        cells = row.cells.ljust(width)
        # tmux blanks only as many cells as it moves.
        blanks = min(count, moved)
        inserted = " " * blanks + cells[x + blanks : x + count]
        _change_cells(window, window.y, x, x, inserted)
        row.truncate(width)


def delete_cells(window: RowWindow, count: int) -> None:
    """Delete cells at the cursor; the cells behind them move up."""
    x, width, row = window.x, window.width, window.rows[window.y]
    row.expand()
    # tmux fills the row with blanks if there are cells behind the deleted ones, which it moves, used or not.
    has_moved = x + count < width
    if x == 0 and count >= width:
        window.clear_rows(window.y, window.y + 1)
    elif has_moved or x < len(row.cells):
        used = max(len(row.cells), width - count if has_moved else 0)
        _change_cells(window, window.y, x, x + count, "")
        row.cells = row.cells.ljust(used)


def _change_cells(window: RowWindow, y: int, first: int, stop: int, cells: str) -> None:
    row = window.rows[y]
    if row.is_ghost:
        window.touch_ghost(y)
    if window.frozen is None:
        window.note_overwrite(y, first, stop, cells)
    row.replace_cells(first, stop, cells)
    row.end, row.at = window.offset, window.at
    window.low = max(window.low, y)
