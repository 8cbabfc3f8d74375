"""Paint a replay frame and a status bar on the user's terminal. Pure.

Invariant: only sanitized text and SGR colours from a recording are painted, within the terminal's rows and columns. The
last row is the status bar.
"""

import re

from msgspec import Struct

from termvisor.clock import NS, format_timestamp
from termvisor.frontends.tui.player.playback import Playback
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.ops.render.text import format_age, measure_width, sanitize, sanitize_keep_colours, shorten

_COLOUR_ESCAPE = re.compile(r"(\x1b\[[0-9;:]*m)")
_KEY_HELP = (
    "space pause  ←→ 10s  ↑↓ 1min  . step  e event  +- speed  i idle  q quit",
    "space pause  ←→↑↓ seek  . e +- i  q quit",
    "space ←→ q",
)
"""Key help from longest to shortest. The first that fits is shown."""


class FrameView(Struct, frozen=True):
    """The rows on the terminal, and the cursor position (None if hidden)."""

    rows: tuple[str, ...]
    cursor: tuple[int, int] | None = None


def build_view(playback: Playback, size: tuple[int, int], now: int, message: str = "") -> FrameView:
    """Build the view of the current frame. ``size`` is (columns, rows); ``message`` is shown in the status bar."""
    width, height = size
    room = max(0, height - 1)
    frame = playback.frame
    if frame is None:
        return FrameView((*([""] * room), _render_status_bar(message or "rendering …", width)))
    # Of a frame taller than the terminal, show the rows around the cursor.
    top = max(0, min(frame.cursor_y - room + 1, frame.height - room))
    rows = [cut_row(sanitize_keep_colours(row), width) for row in frame.rows[top : top + room]]
    rows += [""] * (room - len(rows))
    cut_note = f"cut from {frame.width}×{frame.height}" if frame.width > width or frame.height > room else ""
    notes = [frame.note, message, cut_note, "end of the recording" if playback.is_at_end else ""]
    state = " · ".join([_render_position(playback, frame, now), *(sanitize(note) for note in notes if note)])
    x, y = frame.cursor_x, frame.cursor_y - top
    is_visible = frame.is_cursor_shown and 0 <= x < width and 0 <= y < room
    return FrameView((*rows, _render_status_bar(state, width)), (x, y) if is_visible else None)


def encode_changes(old_view: FrameView | None, new_view: FrameView) -> bytes:
    """Return the bytes that paint the changed rows, or all rows if there is no old view."""
    old_rows = old_view.rows if old_view else ()
    parts = ["\x1b[?2026h\x1b[?25l", "" if old_view else "\x1b[0m\x1b[2J"]
    for index, row in enumerate(new_view.rows):
        if index >= len(old_rows) or old_rows[index] != row:
            parts.append(f"\x1b[{index + 1};1H\x1b[2K{row}\x1b[0m")
    if new_view.cursor:
        parts.append(f"\x1b[{new_view.cursor[1] + 1};{new_view.cursor[0] + 1}H\x1b[?25h")
    return "".join([*parts, "\x1b[?2026l"]).encode("utf-8", "replace")


def cut_row(row: str, width: int) -> str:
    """Cut a row to ``width`` columns, keeping its colours."""
    if measure_width(_COLOUR_ESCAPE.sub("", row)) <= width:
        return row
    result, used = "", 0
    for part in _COLOUR_ESCAPE.split(row):
        if part.startswith("\x1b"):
            result += part
            continue
        for char in part:
            used += measure_width(char)
            result += char if used <= width else ""
    return result


def _render_position(playback: Playback, frame: ReplayFrame, now: int) -> str:
    sign = "❚❚" if playback.is_paused else "■" if playback.is_at_end else "▶"
    idle = "" if playback.shortens_idle else " with idle time"
    at = format_timestamp(playback.position)[:19].replace("T", " ")
    return f"{sign} {frame.pane} · {at}Z · {format_age((now - playback.position) / NS)} ago · {playback.speed:g}×{idle}"


def _render_status_bar(state: str, width: int) -> str:
    """Return the status bar in reverse video. If it does not fit, the key help is dropped first."""
    text = shorten(f" {state} ", width)
    room = width - measure_width(text)
    keys = next((f"{keys} " for keys in _KEY_HELP if measure_width(keys) < room), "")
    return f"\x1b[7m{text}{' ' * (room - measure_width(keys))}{keys}\x1b[0m"
