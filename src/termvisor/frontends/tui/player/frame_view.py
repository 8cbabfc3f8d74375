"""A frame and where the film stands, as bytes for the reader's terminal. Pure.

Invariant: whatever a recording says, only clean text and SGR colours are painted, inside the rows and columns that the
terminal has; the last row is ours.
"""

import re

from msgspec import Struct

from termvisor.clock import NS, iso
from termvisor.frontends.tui.player.playback import Playback
from termvisor.model.terminal.frame import Frame
from termvisor.ops.render.text import age, cells, clean, clean_coloured, shorten

_COLOUR = re.compile(r"(\x1b\[[0-9;:]*m)")
_HELP = (
    "space pause  ←→ 10s  ↑↓ 1min  . step  e event  +- speed  i idle  q quit",
    "space pause  ←→↑↓ seek  . e +- i  q quit",
    "space ←→ q",
)
"""As much of it as there is room for."""


class View(Struct, frozen=True):
    """What the terminal shows: rows, and where its cursor stands, if it is shown."""

    rows: tuple[str, ...]
    cursor: tuple[int, int] | None = None


def view(playback: Playback, size: tuple[int, int], now: int, told: str = "") -> View:
    """``size`` is columns and rows; ``told`` is what the reader should know besides."""
    width, height = size
    room = max(0, height - 1)
    frame = playback.frame
    if frame is None:
        return View((*([""] * room), _bar(told or "drawing the past …", width)))
    top = _top(frame, room)
    rows = [cut(clean_coloured(row), width) for row in frame.rows[top : top + room]]
    rows += [""] * (room - len(rows))
    cut_note = f"cut from {frame.width}×{frame.height}" if frame.width > width or frame.height > room else ""
    notes = [frame.note, told, cut_note, _waiting(playback)]
    state = " · ".join([_place(playback, frame, now), *(clean(note) for note in notes if note)])
    x, y = frame.cursor_x, frame.cursor_y - top
    is_seen = frame.is_cursor_shown and 0 <= x < width and 0 <= y < room
    return View((*rows, _bar(state, width)), (x, y) if is_seen else None)


def paint(before: View | None, after: View) -> bytes:
    """Only what differs; all of it on a terminal whose screen is not known."""
    old = before.rows if before else ()
    parts = ["\x1b[?2026h\x1b[?25l", "" if before else "\x1b[0m\x1b[2J"]
    for index, row in enumerate(after.rows):
        if index >= len(old) or old[index] != row:
            parts.append(f"\x1b[{index + 1};1H\x1b[2K{row}\x1b[0m")
    if after.cursor:
        parts.append(f"\x1b[{after.cursor[1] + 1};{after.cursor[0] + 1}H\x1b[?25h")
    return "".join([*parts, "\x1b[?2026l"]).encode("utf-8", "replace")


def cut(row: str, width: int) -> str:
    """At most so many columns, colours kept."""
    if cells(_COLOUR.sub("", row)) <= width:
        return row
    kept, used = "", 0
    for part in _COLOUR.split(row):
        if part.startswith("\x1b"):
            kept += part
            continue
        for char in part:
            used += cells(char)
            kept += char if used <= width else ""
    return kept


def _top(frame: Frame, room: int) -> int:
    """The first row shown of a screen that is taller than ours: the cursor's row is among them."""
    return max(0, min(frame.cursor_y - room + 1, frame.height - room))


def _place(playback: Playback, frame: Frame, now: int) -> str:
    sign = "❚❚" if playback.is_paused else "■" if playback.is_at_end else "▶"
    idle = "" if playback.shortens_idle else " with idle time"
    at = iso(playback.position)[:19].replace("T", " ")
    return f"{sign} {frame.pane} · {at}Z · {age((now - playback.position) / NS)} ago · {playback.speed:g}×{idle}"


def _waiting(playback: Playback) -> str:
    return "end of what was recorded" if playback.is_at_end else ""


def _bar(state: str, width: int) -> str:
    """Ours, in reverse; the keys give way to what happens."""
    text = shorten(f" {state} ", width)
    room = width - cells(text)
    keys = next((f"{keys} " for keys in _HELP if cells(keys) < room), "")
    return f"\x1b[7m{text}{' ' * (room - cells(keys))}{keys}\x1b[0m"
