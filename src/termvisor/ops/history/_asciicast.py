"""A pane's past as an asciicast, version 3: the film format of asciinema. Pure.

Invariant: played from the first line, after each frame's line the player's screen is that frame; only rows that
changed are painted. The bytes of the pane never get in: rows are clean text and SGR colours.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.event import Event
from termvisor.model.terminal.command import Command
from termvisor.model.terminal.frame import Frame
from termvisor.ops.render.text import clean, clean_coloured
from termvisor.redaction import redact

IDLE_FOR = 2.0
"""Players shorten longer pauses to so many seconds."""
_TOLD_OTHERWISE = ("gap_recorded", "pane_resized", "pane_renamed", "epoch_opened", "epoch_closed")


class Marker(Struct, frozen=True):
    """A place in the film with a name."""

    at: int
    text: str


class Cast:
    """One film: the header, then what happens, in order of time."""

    def __init__(self) -> None:
        self._last: Frame | None = None
        self._told = 0

    def header(self, frame: Frame, title: str) -> str:
        self._told = frame.at // 1_000_000
        term = {"cols": frame.width, "rows": frame.height, "type": "xterm-256color"}
        head = {"version": 3, "term": term, "timestamp": frame.at // NS, "idle_time_limit": IDLE_FOR}
        return _json(head | {"title": clean(title)})

    def frame(self, frame: Frame) -> Iterator[str]:
        """The lines that show it; none when nothing of it is new."""
        before, self._last = self._last, frame
        if before is not None and (before.width, before.height) != (frame.width, frame.height):
            yield self._event(frame.at, "r", f"{frame.width}x{frame.height}")
            before = None
        if painted := repaint(before, frame):
            yield self._event(frame.at, "o", painted)
        if frame.note:
            yield self.marker(Marker(frame.at, frame.note))

    def marker(self, marker: Marker) -> str:
        return self._event(marker.at, "m", clean(redact(marker.text)))

    def exit(self, at: int, status: int) -> str:
        return self._event(at, "x", str(status))

    def _event(self, at: int, code: str, data: str) -> str:
        """Times are told as the seconds since the event before; whole milliseconds, so that nothing adds up."""
        now = max(self._told, at // 1_000_000)
        interval, self._told = (now - self._told) / 1000, now
        return _json([interval, code, data])


def repaint(before: Frame | None, frame: Frame) -> str:
    """What a terminal must be told to show this frame after the other one; a new one is wiped first."""
    rows = before.rows if before else ()
    painted = "" if before else "\x1b[?7l\x1b[0m\x1b[2J"
    for index, row in enumerate(frame.rows):
        old = rows[index] if index < len(rows) else ""
        if row != old:
            painted += f"\x1b[{index + 1};1H\x1b[2K{clean_coloured(row)}"
    if before is None or painted or _cursor(before) != _cursor(frame):
        painted += _cursor(frame)
    return painted


def _cursor(frame: Frame) -> str:
    return f"\x1b[{frame.cursor_y + 1};{frame.cursor_x + 1}H\x1b[?25{'h' if frame.is_cursor_shown else 'l'}"


def markers(commands: Sequence[Command], events: Sequence[Event]) -> list[Marker]:
    """The commands and events of a pane; frames tell gaps and sizes, and tmux renames windows all the time."""
    found = [Marker(command.started_at, f"$ {command.line or '?'}") for command in commands]
    found += [Marker(event.at, told(event)) for event in events if event.kind not in _TOLD_OTHERWISE]
    return sorted(found, key=lambda marker: marker.at)


def told(event: Event) -> str:
    data = " ".join(f"{name}={value}" for name, value in event.data.items() if value not in (None, ""))
    return f"{event.kind} {data}".rstrip()


def exit_status(events: Sequence[Event]) -> tuple[int, int] | None:
    """When the pane's program ended, and with which status; a signal counts as shells count it."""
    for event in reversed(events):
        if event.kind == "pane_died":
            status, signal = event.data.get("status"), event.data.get("signal")
            code = status if isinstance(status, int) else 128 + int(signal or 0)
            return event.at, code
    return None


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
