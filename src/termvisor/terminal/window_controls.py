"""Apply control characters and escape sequences to a row window, as tmux does. Unknown sequences change nothing.

Reference: tmux's input.c, screen-write.c and grid-view.c. Its peculiarities are copied where they change what is shown.
"""

from collections.abc import Callable

from termvisor.terminal.alternate_screen import enter_alternate, leave_alternate
from termvisor.terminal.cell_writer import delete_cells, erase_cells, erase_row, insert_cells
from termvisor.terminal.row_window import RowWindow

_MAX_PARAMETERS = 24
_MAX_PARAMETER_BYTES = 63
_MAX_NUMBER = 0x7FFFFFFF
_TAB_WIDTH = 8
# Programs use few distinct sequences, most of them again and again.
_CACHE_SIZE = 1024
_MAX_CACHED_LENGTH = 16

SequenceHandler = Callable[[RowWindow, int, int], None]
"""Gets the first two parameters. An omitted one is -1; of a count or a place it is 1."""
_FINALS_WITH_COUNTS = frozenset("@ABCDEFGHLMPSTXZ`df")
_parsed_sequences: dict[bytes, tuple[SequenceHandler, int, int]] = {}


def apply_moves(window: RowWindow, data: bytes, start: int) -> None:
    """Apply consecutive control sequences, which begin at offset ``start``."""
    window.is_moved = True
    for sequence in data.split(b"\x1b[")[1:]:
        start += len(sequence) + 2
        window.offset = start
        handler, first, second = _parsed_sequences.get(sequence) or _parse_csi(sequence)
        handler(window, first, second)


def apply_csi(window: RowWindow, parameters: bytes, final: str) -> None:
    """Apply a control sequence; ``parameters`` include intermediate bytes."""
    handler, first, second = _parse_csi(parameters + final.encode())
    window.is_moved = True
    handler(window, first, second)


def _parse_csi(sequence: bytes) -> tuple[SequenceHandler, int, int]:
    parsed = _parsed_sequences.get(sequence)
    if parsed is None:
        parsed = _find_handler(sequence[:-1], chr(sequence[-1])) or (_ignore, -1, -1)
        if len(sequence) <= _MAX_CACHED_LENGTH:
            if len(_parsed_sequences) >= _CACHE_SIZE:
                _parsed_sequences.clear()
            _parsed_sequences[sequence] = parsed
    return parsed


def _ignore(_window: RowWindow, _first: int, _second: int) -> None:
    """Ignore a sequence that changes nothing here."""


def _find_handler(parameters: bytes, final: str) -> tuple[SequenceHandler, int, int] | None:
    prefix = parameters[:1].decode("ascii", "replace") if parameters[:1] in (b"?", b">") else ""
    numbers = parse_numbers(parameters[len(prefix) :])
    handler = _CSI_HANDLERS.get(prefix + final)
    if numbers is None or (handler is None and final not in "hl"):
        return None
    if handler is None:
        return _build_mode_handler([(prefix, number, final == "h") for number in numbers]), -1, -1
    first, second, *_ = (*numbers, -1, -1)
    return (handler, max(first, 1), max(second, 1)) if final in _FINALS_WITH_COUNTS else (handler, first, second)


def parse_numbers(parameters: bytes) -> list[int] | None:
    """Return the numbers, -1 for an omitted one; None if tmux ignores such parameters."""
    if not parameters:
        return []
    fields = parameters.split(b";")
    if len(fields) >= _MAX_PARAMETERS or len(parameters) > _MAX_PARAMETER_BYTES:
        return None
    if not all(field.isdigit() or not field for field in fields):
        return None
    numbers = [int(field) if field else -1 for field in fields]
    return None if max(numbers) > _MAX_NUMBER else numbers


def apply_escape(window: RowWindow, intermediates: bytes, final: str) -> None:
    handler = _ESCAPE_HANDLERS.get(intermediates.decode("ascii", "replace") + final)
    if handler is not None:
        window.is_moved = True
        handler(window, -1, -1)


def move_back(window: RowWindow, count: int) -> None:
    """Apply backspaces: at the start of a row that continues a line, move to the end of the row above."""
    for _ in range(count):
        if window.x:
            window.x -= 1
        elif window.y and window.rows[window.y - 1].is_wrapped:
            window.x, window.y = window.width - 1, window.y - 1
        else:
            break
    window.is_moved = True


def move_to_tab_stop(window: RowWindow, count: int) -> None:
    last = window.width - 1
    for _ in range(min(count, last)):
        if window.x >= last:
            break
        x = window.x
        stops = range(x - x % _TAB_WIDTH + _TAB_WIDTH, last, _TAB_WIDTH) if window.tabs is None else window.tabs
        window.x = next((stop for stop in stops if x < stop < last), last)
    window.is_moved = True


def _move_up(window: RowWindow, number: int, _: int) -> None:
    window.row_jumps += 1
    limit, y = window.top if window.y >= window.top else 0, window.y - number
    window.y = y if y > limit else limit
    if window.x == window.width:
        window.x -= 1


def _move_down(window: RowWindow, number: int, _: int) -> None:
    window.row_jumps += 1
    limit = window.bottom if window.y <= window.bottom else window.height - 1
    window.y = min(window.y + number, limit)
    if window.x == window.width:
        window.x -= 1


def _move_to_next_row(window: RowWindow, number: int, _: int) -> None:
    window.x = 0
    _move_down(window, number, _)


def _move_to_previous_row(window: RowWindow, number: int, _: int) -> None:
    window.x = 0
    _move_up(window, number, _)


def _move_right(window: RowWindow, number: int, _: int) -> None:
    window.x = min(window.x + number, window.width - 1)


def _move_left(window: RowWindow, number: int, _: int) -> None:
    window.x = max(window.x - number, 0)


def _move_to_column(window: RowWindow, number: int, _: int) -> None:
    window.x = min(number, window.width) - 1


def _move_to_row(window: RowWindow, number: int, _: int) -> None:
    window.row_jumps += 1
    window.y = _resolve_row(window, number - 1)


def _move_to(window: RowWindow, row: int, column: int) -> None:
    window.row_jumps += 1
    window.y = _resolve_row(window, row - 1)
    window.x = min(column, window.width) - 1


def _resolve_row(window: RowWindow, y: int) -> int:
    if window.is_origin:
        return min(window.top + y, window.bottom)
    return min(y, window.height - 1)


def _move_to_previous_tab(window: RowWindow, number: int, _: int) -> None:
    x = min(window.x, window.width - 1)
    for _ in range(min(number, window.width)):
        stops = range(0, x, _TAB_WIDTH) if window.tabs is None else [stop for stop in window.tabs if stop < x]
        x = stops[-1] if stops else 0
    window.x = x


def _erase_in_line(window: RowWindow, mode: int, _: int) -> None:
    x, y, last = window.x, window.y, window.width - 1
    if mode in (-1, 0) and 0 < x <= last:
        erase_cells(window, y, x, window.width)
    elif mode == 1 and x < last:
        erase_cells(window, y, 0, x + 1)
    elif mode == 2 or (mode == 1 and x >= last) or (mode in (-1, 0) and x == 0):
        erase_row(window, y)


def _erase_in_display(window: RowWindow, mode: int, second: int) -> None:
    x, y, width, height = window.x, window.y, window.width, window.height
    window.row_jumps += mode > 0
    if mode == 2 or (mode <= 0 and x == y == 0):
        _clear_screen(window)
    elif mode <= 0:
        if x == 0:
            window.clear_rows(y, height)
        else:
            if x < width:
                erase_cells(window, y, x, width)
            window.clear_rows(y + 1, height)
    elif mode == 1:
        window.clear_rows(0, y)
        if x >= width - 1:
            window.clear_rows(y, y + 1)
        else:
            erase_cells(window, y, 0, x + 1)
    elif mode == 3 and second <= 0:
        window.scrolled = window.history = 0


def _clear_screen(window: RowWindow) -> None:
    if window.frozen is None:
        window.settle_page()
    else:
        window.clear_rows(0, window.height)


def _erase_characters(window: RowWindow, number: int, _: int) -> None:
    count = min(number, window.width - window.x)
    if count == window.width:
        window.clear_rows(window.y, window.y + 1)
    elif count > 0:
        erase_cells(window, window.y, window.x, window.x + count)


def _insert_characters(window: RowWindow, number: int, _: int) -> None:
    if window.x < window.width:
        insert_cells(window, number)


def _delete_characters(window: RowWindow, number: int, _: int) -> None:
    if window.x < window.width:
        delete_cells(window, number)


def _insert_rows(window: RowWindow, number: int, _: int) -> None:
    window.row_jumps += 1
    y = window.y
    if not window.top <= y <= window.bottom:
        count = min(number, window.height - y)
        window.move_rows(y + count, y, window.height - y - count)
        return
    count = min(number, window.bottom + 1 - y)
    moved = window.bottom + 1 - y - count
    window.move_rows(y + count, y, moved)
    _clear_behind(window, y + moved, y + count)


def _delete_rows(window: RowWindow, number: int, _: int) -> None:
    window.row_jumps += 1
    y = window.y
    last = window.bottom if window.top <= y <= window.bottom else window.height - 1
    count = min(number, last + 1 - y)
    moved = last + 1 - y - count
    window.move_rows(y, y + count, moved)
    _clear_behind(window, y + moved, y + count)


def _clear_behind(window: RowWindow, first: int, last: int) -> None:
    """Clear rows as tmux's grid_clear does; without any to clear, the row above still loses its continuation."""
    if first < last:
        window.clear_rows(first, last)
    elif first > last:
        window.unwrap_above(first)


def _scroll_up(window: RowWindow, number: int, _: int) -> None:
    window.row_jumps += 1
    window.scroll_up(min(number, window.bottom - window.top + 1))


def _scroll_down(window: RowWindow, number: int, _: int) -> None:
    window.row_jumps += 1
    for _ in range(min(number, window.bottom - window.top + 1)):
        window.move_rows(window.top + 1, window.top, window.bottom - window.top)


def _set_region(window: RowWindow, first: int, last: int) -> None:
    window.row_jumps += 1
    top = min(max(first, 1), window.height) - 1
    bottom = min(max(last, 1) if last >= 0 else window.height, window.height) - 1
    if top < bottom:
        window.top, window.bottom = top, bottom
        window.x = window.y = 0


def _save_cursor(window: RowWindow, _first: int, _second: int) -> None:
    window.saved = (window.x, window.y, window.is_origin)


def _restore_cursor(window: RowWindow, _first: int, _second: int) -> None:
    x, y, window.is_origin = window.saved
    window.x, window.y = min(x, window.width - 1), min(y, window.height - 1)


def _set_tab_stop(window: RowWindow, _first: int, _second: int) -> None:
    if window.x < window.width:
        window.tabs = sorted({*_list_tab_stops(window), window.x})


def _clear_tab_stops(window: RowWindow, mode: int, _: int) -> None:
    if mode in (-1, 0):
        window.tabs = [stop for stop in _list_tab_stops(window) if stop != window.x]
    elif mode == 3:
        window.tabs = []


def _list_tab_stops(window: RowWindow) -> list[int]:
    return list(range(_TAB_WIDTH, window.width, _TAB_WIDTH)) if window.tabs is None else window.tabs


def _feed_row(window: RowWindow, _first: int, _second: int) -> None:
    window.row_jumps += 1
    window.feed_line(window.offset)


def _begin_next_row(window: RowWindow, _first: int, _second: int) -> None:
    window.x = 0
    _feed_row(window, _first, _second)


def _feed_back(window: RowWindow, _first: int, _second: int) -> None:
    window.row_jumps += 1
    if window.y == window.top:
        window.move_rows(window.top + 1, window.top, window.bottom - window.top)
    elif window.y:
        window.y -= 1


def _reset(window: RowWindow, _first: int, _second: int) -> None:
    window.reset_modes()
    _clear_screen(window)
    window.x = window.y = 0


def _fill_screen(window: RowWindow, _first: int, _second: int) -> None:
    """Apply DECALN: fill the screen with a letter."""
    for row in window.rows:
        row.cells, row.combined, row.is_ghost, row.is_text = "E" * window.width, None, False, False
        row.start = window.offset if row.end < 0 else row.start
        row.end, row.at = window.offset, window.at
    window.top, window.bottom, window.x, window.y = 0, window.height - 1, 0, 0
    window.low = window.height - 1


def _build_mode_handler(modes: list[tuple[str, int, bool]]) -> SequenceHandler:
    def set_modes(window: RowWindow, _first: int, _second: int) -> None:
        for prefix, number, is_on in modes:
            handler = _MODE_HANDLERS.get((prefix, number))
            if handler is not None:
                handler(window, is_on)

    return set_modes


def _set_insert_mode(window: RowWindow, is_on: bool) -> None:
    window.is_insert = is_on


def _set_autowrap(window: RowWindow, is_on: bool) -> None:
    window.autowrap = is_on


def _set_origin_mode(window: RowWindow, is_on: bool) -> None:
    window.is_origin = is_on
    window.x, window.y = 0, _resolve_row(window, 0)


def _switch_columns(window: RowWindow, _is_on: bool) -> None:
    """Apply DECCOLM, which only clears the screen."""
    window.row_jumps += 1
    window.x, window.y = 0, _resolve_row(window, 0)
    _clear_screen(window)


def _switch_alternate(window: RowWindow, is_on: bool) -> None:
    (enter_alternate if is_on else leave_alternate)(window, has_cursor=False)


def _switch_alternate_with_cursor(window: RowWindow, is_on: bool) -> None:
    (enter_alternate if is_on else leave_alternate)(window, has_cursor=True)


_MODE_HANDLERS: dict[tuple[str, int], Callable[[RowWindow, bool], None]] = {
    ("", 4): _set_insert_mode,
    ("?", 3): _switch_columns,
    ("?", 6): _set_origin_mode,
    ("?", 7): _set_autowrap,
    ("?", 47): _switch_alternate,
    ("?", 1047): _switch_alternate,
    ("?", 1049): _switch_alternate_with_cursor,
}
_CSI_HANDLERS: dict[str, SequenceHandler] = {
    "@": _insert_characters, "A": _move_up, "B": _move_down, "C": _move_right, "D": _move_left,
    "E": _move_to_next_row, "F": _move_to_previous_row, "G": _move_to_column, "H": _move_to, "J": _erase_in_display,
    "K": _erase_in_line, "L": _insert_rows, "M": _delete_rows, "P": _delete_characters, "S": _scroll_up,
    "T": _scroll_down, "X": _erase_characters, "Z": _move_to_previous_tab, "`": _move_to_column, "d": _move_to_row,
    "f": _move_to, "g": _clear_tab_stops, "r": _set_region, "s": _save_cursor, "u": _restore_cursor,
}  # fmt: skip
_ESCAPE_HANDLERS: dict[str, SequenceHandler] = {
    "7": _save_cursor, "8": _restore_cursor, "#8": _fill_screen, "D": _feed_row, "E": _begin_next_row,
    "H": _set_tab_stop, "M": _feed_back, "c": _reset,
}  # fmt: skip
