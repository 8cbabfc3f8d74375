"""A terminal emulated by libghostty-vt. It answers queries itself, except those that only a terminal host knows."""

import ctypes
from typing import Any

from termvisor.backends.pane_source import ROWS_ABOVE, PaneCapture
from termvisor.backends.pty import ghostty_library as ghostty
from termvisor.backends.pty.terminal_model import (
    CELL_HEIGHT,
    CELL_WIDTH,
    DEFAULT_BACKGROUND,
    DEFAULT_FOREGROUND,
    answer_unknown_sequence,
)
from termvisor.errors import InternalError

SCROLLBACK_LINES = 2000
_MAX_SEQUENCE_BYTES = 4096
_MAX_TITLE_BYTES = 4096
_MAX_FORMAT_BYTES = 1 << 26
_FIRST_FORMAT_BYTES = 1 << 14


class GhosttyModel:
    """Owns one native terminal. Raises InternalError if the library reports a failure."""

    def __init__(self, library: ctypes.CDLL, columns: int, rows: int):
        self._library = library
        self._columns, self._rows = columns, rows
        self._answers = bytearray()
        self._handle = ctypes.c_void_p()
        _check(library.ghostty_terminal_new(None, ctypes.byref(self._handle), columns, rows))
        self._set(ghostty.OPTION_SCROLLBACK_LINES, ctypes.byref(ctypes.c_size_t(SCROLLBACK_LINES)))
        self._set(ghostty.OPTION_UNKNOWN_BYTES, ctypes.byref(ctypes.c_size_t(_MAX_SEQUENCE_BYTES)))
        self._set(ghostty.OPTION_FOREGROUND, ctypes.byref(ghostty.GhosttyColor(*DEFAULT_FOREGROUND)))
        self._set(ghostty.OPTION_BACKGROUND, ctypes.byref(ghostty.GhosttyColor(*DEFAULT_BACKGROUND)))
        # Kept alive as long as the terminal, which calls them.
        self._callbacks = (
            (ghostty.OPTION_WRITE_PTY, ghostty.WriteCallback(self._add_answer)),
            (ghostty.OPTION_SIZE, ghostty.SizeCallback(self._report_size)),
            (ghostty.OPTION_COLOR_SCHEME, ghostty.SchemeCallback(_report_color_scheme)),
            (ghostty.OPTION_UNKNOWN_SEQUENCE, ghostty.SequenceCallback(self._handle_unknown_sequence)),
        )
        for option, callback in self._callbacks:
            self._set(option, callback)
        library.ghostty_terminal_resize(self._handle, columns, rows, CELL_WIDTH, CELL_HEIGHT)

    @property
    def title(self) -> str:
        text = ghostty.GhosttyText()
        self._get(ghostty.DATA_TITLE, text)
        return _read_text(text, _MAX_TITLE_BYTES).decode("utf-8", "replace")

    @property
    def is_alternate(self) -> bool:
        return bool(self._get_number(ghostty.DATA_ACTIVE_SCREEN, ctypes.c_int))

    def feed(self, data: bytes) -> bytes:
        self._library.ghostty_terminal_vt_write(self._handle, data, len(data))
        answers, self._answers = bytes(self._answers), bytearray()
        return answers

    def resize(self, columns: int, rows: int) -> None:
        _check(self._library.ghostty_terminal_resize(self._handle, columns, rows, CELL_WIDTH, CELL_HEIGHT))
        self._columns, self._rows = columns, rows

    def read_screen(self, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        # A program may change the width itself (DECCOLM), so the size is read.
        width, height = self._get_number(ghostty.DATA_COLUMNS), self._get_number(ghostty.DATA_ROWS)
        history = self._get_number(ghostty.DATA_SCROLLBACK_ROWS, ctypes.c_size_t)
        first = max(0, history - lines)
        emit = ghostty.FORMAT_VT if escapes else ghostty.FORMAT_PLAIN
        rows = self._read_rows(first, history + height, width, emit)
        # Rows below the last one with text are not printed, and joined rows are fewer than those on the screen.
        shown = len(self._read_rows(first, history + height, width, ghostty.FORMAT_PLAIN, unwrap=False))
        padding = ("",) * (history + height - first - shown)
        above = self._read_rows(max(0, history - ROWS_ABOVE), history, width, ghostty.FORMAT_PLAIN) if not lines else []
        return PaneCapture(
            rows=(*rows, *padding),
            width=width,
            height=height,
            cursor_x=min(self._get_number(ghostty.DATA_CURSOR_X), width - 1),
            cursor_y=self._get_number(ghostty.DATA_CURSOR_Y),
            has_cursor=bool(self._get_number(ghostty.DATA_CURSOR_VISIBLE, ctypes.c_bool)),
            alternate=self.is_alternate,
            rows_above=tuple(above),
        )

    def is_mode_set(self, number: int) -> bool:
        mode = ghostty.GhosttyModeValue(mode=number & 0x7FFF)
        return self._library.ghostty_terminal_get(
            self._handle, ghostty.DATA_MODE, ctypes.byref(mode)
        ) == ghostty.SUCCESS and bool(mode.value)

    def encode_state(self) -> bytes:
        parts = ghostty.GhosttyTerminalParts(size=ctypes.sizeof(ghostty.GhosttyTerminalParts))
        parts.modes = parts.scrolling_region = parts.tabstops = parts.pwd = parts.keyboard = True
        screen = parts.screen
        screen.cursor = screen.style = screen.hyperlink = screen.protection = screen.kitty_keyboard = True
        screen.charsets = True
        title = self.title.replace("\x1b", "").replace("\x07", "")
        return self._format(ghostty.FORMAT_VT, None, parts, trim=False) + f"\x1b]2;{title}\x1b\\".encode()

    def close(self) -> None:
        if self._handle:
            self._library.ghostty_terminal_free(self._handle)
            self._handle = ctypes.c_void_p()

    def _read_rows(self, first: int, end: int, width: int, emit: int, *, unwrap: bool = True) -> list[str]:
        """Return the rows from ``first`` to before ``end``, counted from the top of the scrollback."""
        if end <= first:
            return []
        selection = ghostty.GhosttySelection(size=ctypes.sizeof(ghostty.GhosttySelection))
        for cell, x, y in ((selection.start, 0, first), (selection.end, width - 1, end - 1)):
            cell.size = ctypes.sizeof(ghostty.GhosttyCell)
            point = ghostty.GhosttyPoint(ghostty.POINT_SCREEN, ghostty.GhosttyCoordinate(x, y))
            _check(self._library.ghostty_terminal_grid_ref(self._handle, point, ctypes.byref(cell)))
        parts = ghostty.GhosttyTerminalParts(size=ctypes.sizeof(ghostty.GhosttyTerminalParts))
        data = self._format(emit, selection, parts, unwrap=unwrap, trim=False)
        text = data.decode("utf-8", "replace")
        return text.split("\r\n" if emit == ghostty.FORMAT_VT else "\n") if text else []

    def _format(
        self,
        emit: int,
        selection: ghostty.GhosttySelection | None,
        parts: ghostty.GhosttyTerminalParts,
        *,
        unwrap: bool = False,
        trim: bool,
    ) -> bytes:
        parts.screen.size = ctypes.sizeof(ghostty.GhosttyScreenParts)
        options = ghostty.GhosttyFormatOptions(
            size=ctypes.sizeof(ghostty.GhosttyFormatOptions), emit=emit, unwrap=unwrap, trim=trim, extra=parts
        )
        if selection is not None:
            options.selection = ctypes.pointer(selection)
        formatter = ctypes.c_void_p()
        library = self._library
        _check(library.ghostty_formatter_terminal_new(None, ctypes.byref(formatter), self._handle, options))
        try:
            return _read_formatted(library, formatter)
        finally:
            library.ghostty_formatter_free(formatter)

    def _set(self, option: int, value: Any) -> None:
        pointer = ctypes.cast(value, ctypes.c_void_p)
        _check(self._library.ghostty_terminal_set(self._handle, option, pointer))

    def _get(self, key: int, value: Any) -> None:
        _check(self._library.ghostty_terminal_get(self._handle, key, ctypes.byref(value)))

    def _get_number(self, key: int, kind: Any = ctypes.c_uint16) -> int:
        value = kind()
        self._get(key, value)
        return int(value.value)

    def _add_answer(self, terminal: object, user_data: object, data: int, length: int) -> None:
        self._answers += ctypes.string_at(data, length)

    def _report_size(self, terminal: object, user_data: object, size: Any) -> bool:
        row = size.contents
        row.rows, row.columns, row.cell_width, row.cell_height = self._rows, self._columns, CELL_WIDTH, CELL_HEIGHT
        return True

    def _handle_unknown_sequence(self, terminal: object, user_data: object, sequence: Any) -> None:
        found = sequence.contents
        kind = "osc" if found.tag == ghostty.SEQUENCE_OSC else "apc"
        if not found.value.truncated:
            self._answers += answer_unknown_sequence(kind, _read_text(found.value.content, _MAX_SEQUENCE_BYTES))


def build_ghostty_model(path: str, columns: int, rows: int) -> GhosttyModel:
    """Return a model. Raises OSError if the library cannot be loaded."""
    return GhosttyModel(ghostty.load_library(path), columns, rows)


def _report_color_scheme(terminal: object, user_data: object, scheme: Any) -> bool:
    scheme.contents.value = ghostty.COLOR_SCHEME_DARK
    return True


def _read_text(text: ghostty.GhosttyText, limit: int) -> bytes:
    return ctypes.string_at(text.pointer, min(text.length, limit)) if text.pointer and text.length else b""


def _read_formatted(library: ctypes.CDLL, formatter: ctypes.c_void_p) -> bytes:
    room, length = _FIRST_FORMAT_BYTES, ctypes.c_size_t()
    while room <= _MAX_FORMAT_BYTES:
        buffer = ctypes.create_string_buffer(room)
        result = library.ghostty_formatter_format_buf(formatter, buffer, room, ctypes.byref(length))
        if result == ghostty.SUCCESS:
            return buffer.raw[: length.value]
        if result != ghostty.OUT_OF_SPACE:
            _check(result)
        room = max(room * 2, length.value)
    raise InternalError("the screen of the terminal model is too long")


def _check(result: int) -> None:
    if result != ghostty.SUCCESS:
        raise InternalError(f"libghostty-vt failed with {result}")
