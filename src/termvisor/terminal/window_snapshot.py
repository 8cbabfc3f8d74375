"""Encode the state of a decoder, so that another process continues at the same byte. Pure.

Invariant: a decoder loaded from a snapshot gives the same output as the one that made it. A snapshot contains what the
pane showed, secrets included.
"""

import zlib

import msgspec
from msgspec import Struct

from termvisor.terminal.row_window import FrozenScreen, LineHead, RowWindow
from termvisor.terminal.screen_row import Row
from termvisor.terminal.tokenizer import OpenString, Tokenizer

_MAGIC = b"TW1"
# A full screen is a few kilobytes; an unfinished string may be as long as the limit of the tokenizer.
_MAX_BYTES = 1 << 24
_MAX_SIDE = 1 << 16


class DecoderState(Struct):
    """The parts of a decoder."""

    window: RowWindow
    tokenizer: Tokenizer
    bell_end: int
    printed: tuple[int, bytes]


class _RowState(Struct, array_like=True):
    """A row; offsets and times count back from those of the window, because small numbers are short."""

    cells: str
    start: int
    size: int
    at: int
    flags: int = 0
    combined: dict[int, str] = {}
    anchors: tuple[tuple[int, bool], ...] = ()


class _ScreenState(Struct, array_like=True):
    width: int
    height: int
    x: int
    y: int
    rows: list[_RowState]
    is_followed: bool = False


class _HeadState(Struct, array_like=True):
    text: str
    columns: int
    start: int
    end: int
    at: int
    is_ghost: bool
    anchors: tuple[tuple[int, bool], ...]


class _WindowState(Struct, array_like=True):
    """The fields of RowWindow. Stored by position, so a change of their order needs a new _MAGIC."""

    offset: int
    at: int
    screen: _ScreenState
    frozen: _ScreenState | None
    head: _HeadState | None
    saved: tuple[int, int, bool]
    alternate_saved: tuple[int, int] | None
    region: tuple[int, int]
    modes: tuple[bool, bool, bool, bool, bool]
    tabs: list[int] | None
    counters: tuple[int, int, int, int]
    page: tuple[bytes, int]


class _Snapshot(Struct, array_like=True):
    window: _WindowState
    position: int
    unfinished: bytes
    open_string: OpenString | None
    bell_end: int
    printed: tuple[int, bytes]


def encode_snapshot(state: DecoderState) -> bytes:
    tokenizer = state.tokenizer
    snapshot = _Snapshot(
        _pack_window(state.window),
        tokenizer.position,
        tokenizer.unfinished_bytes,
        tokenizer.open_string,
        state.bell_end,
        state.printed,
    )
    return _MAGIC + zlib.compress(msgspec.msgpack.encode(snapshot), 1)


def decode_snapshot(data: bytes) -> DecoderState:
    """Return the state in a snapshot. Raises ValueError for damaged or foreign bytes."""
    if not data.startswith(_MAGIC):
        raise ValueError("not a snapshot of a decoder, or one of another version")
    try:
        decompressor = zlib.decompressobj()
        packed = decompressor.decompress(data[len(_MAGIC) :], _MAX_BYTES)
        snapshot = msgspec.msgpack.decode(packed, type=_Snapshot)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(f"damaged snapshot: {error}") from error
    if not decompressor.eof:
        raise ValueError("damaged snapshot: truncated or too long")
    tokenizer = Tokenizer(snapshot.position, snapshot.unfinished, snapshot.open_string)
    return DecoderState(_unpack_window(snapshot.window), tokenizer, snapshot.bell_end, snapshot.printed)


def _pack_window(window: RowWindow) -> _WindowState:
    frozen, head = window.frozen, window.head
    screen = FrozenScreen(window.rows, window.x, window.y, window.width, window.height)
    return _WindowState(
        offset=window.offset,
        at=window.at,
        screen=_pack_screen(screen, window),
        frozen=None if frozen is None else _pack_screen(frozen, window),
        head=None if head is None else _HeadState(*msgspec.structs.astuple(head)),
        saved=window.saved,
        alternate_saved=window.alternate_saved,
        region=(window.top, window.bottom),
        modes=(window.autowrap, window.is_insert, window.is_origin, window.is_moved, window.joins_next),
        tabs=window.tabs,
        counters=(window.settled_count, window.row_jumps, window.scrolled, window.history),
        page=window.page,
    )


def _pack_screen(screen: FrozenScreen, window: RowWindow) -> _ScreenState:
    rows = [
        _RowState(
            row.cells,
            window.offset - row.start,
            row.end - row.start if row.end >= 0 else -1,
            window.at - row.at,
            row.is_wrapped + 2 * row.is_ghost + 4 * row.is_text,
            row.combined or {},
            row.anchors,
        )
        for row in screen.rows
    ]
    return _ScreenState(screen.width, screen.height, screen.x, screen.y, rows, screen.is_followed)


def _unpack_window(state: _WindowState) -> RowWindow:
    screen = state.screen
    if not (0 < screen.width < _MAX_SIDE and 0 < screen.height < _MAX_SIDE):
        raise ValueError("damaged snapshot: impossible size")
    window = RowWindow(1, 1, state.offset)
    window.width, window.height, window.x, window.y = screen.width, screen.height, screen.x, screen.y
    window.at, window.saved, window.alternate_saved = state.at, state.saved, state.alternate_saved
    window.top, window.bottom = state.region
    window.autowrap, window.is_insert, window.is_origin, window.is_moved, window.joins_next = state.modes
    window.tabs, window.page = state.tabs, state.page
    window.settled_count, window.row_jumps, window.scrolled, window.history = state.counters
    window.rows, window.low = _unpack_rows(screen, state), screen.height - 1
    if state.head is not None:
        window.head = LineHead(*msgspec.structs.astuple(state.head))
    if (kept := state.frozen) is not None:
        rows = _unpack_rows(kept, state)
        window.frozen = FrozenScreen(rows, kept.x, kept.y, kept.width, kept.height, kept.is_followed)
    is_shown = window.frozen is None or window.frozen.is_followed
    is_valid = len(window.rows) == (window.height if is_shown else 0) and 0 <= window.y < window.height
    if not is_valid or not 0 <= window.top <= window.bottom < window.height or not 0 <= window.x <= window.width:
        raise ValueError("damaged snapshot: rows and cursor do not fit")
    return window


def _unpack_rows(screen: _ScreenState, state: _WindowState) -> list[Row]:
    rows = []
    for row in screen.rows:
        start = state.offset - row.start
        end = start + row.size if row.size >= 0 else -1
        is_wrapped, is_ghost, is_text = (bool(row.flags & flag) for flag in (1, 2, 4))
        combined, at = row.combined or None, state.at - row.at
        rows.append(Row(row.cells, start, end, at, is_wrapped, is_ghost, combined, row.anchors, is_text))
    return rows
