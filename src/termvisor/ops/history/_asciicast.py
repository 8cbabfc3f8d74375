"""Write a pane's recording as an asciicast file, the format of asciinema, version 2 or 3. Pure.

Invariant: after the line of a frame, the player's screen equals that frame; only changed rows are painted. No raw bytes
of the pane are written: rows are sanitized text and SGR colours.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.event import Event
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.ops.render.text import sanitize, sanitize_keep_colours
from termvisor.redaction import redact

# Players shorten longer pauses to this many seconds.
IDLE_TIME_LIMIT_S = 2.0
# Events without a marker: visible in the frames anyway, or too frequent.
_SKIPPED_EVENT_KINDS = ("gap_recorded", "pane_resized", "pane_renamed", "epoch_opened", "epoch_closed")


CastVersion = Literal["2", "3"]
"""Every player reads version 2; version 3 also has the exit status of the program."""


class CastMarker(Struct, frozen=True):
    """A named position in the recording."""

    at: int
    text: str


class AsciicastWriter:
    """Writes one recording: the header, then events in order of time."""

    def __init__(self, version: CastVersion = "2") -> None:
        self._is_version_2 = version == "2"
        self._last_frame: ReplayFrame | None = None
        self._start_ms = self._last_event_ms = 0

    def write_header(self, frame: ReplayFrame, title: str) -> str:
        self._start_ms = self._last_event_ms = frame.at // 1_000_000
        head: dict[str, object] = {"version": 2, "width": frame.width, "height": frame.height}
        if not self._is_version_2:
            term = {"cols": frame.width, "rows": frame.height, "type": "xterm-256color"}
            head = {"version": 3, "term": term}
        rest = {"timestamp": frame.at // NS, "idle_time_limit": IDLE_TIME_LIMIT_S, "title": sanitize(title)}
        return _encode_json(head | rest)

    def write_frame(self, frame: ReplayFrame) -> Iterator[str]:
        """Yield the lines that show the frame; none if it equals the previous one."""
        before, self._last_frame = self._last_frame, frame
        if before is not None and (before.width, before.height) != (frame.width, frame.height):
            yield self._write_event(frame.at, "r", f"{frame.width}x{frame.height}")
            before = None
        if painted := render_repaint(before, frame):
            yield self._write_event(frame.at, "o", painted)
        if frame.note:
            yield self.write_marker(CastMarker(frame.at, frame.note))

    def write_marker(self, marker: CastMarker) -> str:
        return self._write_event(marker.at, "m", sanitize(redact(marker.text)))

    def write_exit(self, at: int, status: int) -> str:
        # Version 2 has no exit event; a marker shows the status there.
        return self._write_event(at, *(("m", f"exit status {status}") if self._is_version_2 else ("x", str(status))))

    def _write_event(self, at: int, code: str, data: str) -> str:
        """Encode an event with its time since the start (version 2) or since the previous event (version 3).

        Times are rounded to milliseconds before the subtraction, so that rounding errors do not add up.
        """
        # Frames, markers and the exit come from different tables; an interval is never negative.
        now = max(self._last_event_ms, at // 1_000_000)
        seconds = (now - (self._start_ms if self._is_version_2 else self._last_event_ms)) / 1000
        self._last_event_ms = now
        return _encode_json([seconds, code, data])


def render_repaint(before: ReplayFrame | None, frame: ReplayFrame) -> str:
    """Return the escape sequences that turn one frame into another; without ``before`` the screen is cleared."""
    rows = before.rows if before else ()
    # `?7l` turns automatic wrapping off: a row that fills the width must not scroll the screen.
    painted = "" if before else "\x1b[?7l\x1b[0m\x1b[2J"
    for index, row in enumerate(frame.rows):
        old = rows[index] if index < len(rows) else ""
        if row != old:
            painted += f"\x1b[{index + 1};1H\x1b[2K{sanitize_keep_colours(row)}"
    if before is None or painted or _render_cursor(before) != _render_cursor(frame):
        painted += _render_cursor(frame)
    return painted


def _render_cursor(frame: ReplayFrame) -> str:
    return f"\x1b[{frame.cursor_y + 1};{frame.cursor_x + 1}H\x1b[?25{'h' if frame.is_cursor_shown else 'l'}"


def build_markers(commands: Sequence[ShellCommand], events: Sequence[Event]) -> list[CastMarker]:
    """Return markers for commands and events.

    Gaps and resizes are part of the frames; tmux renames panes too often for a marker.
    """
    markers = [CastMarker(command.started_at, f"$ {command.line or '?'}") for command in commands]
    markers += [CastMarker(event.at, format_event(event)) for event in events if event.kind not in _SKIPPED_EVENT_KINDS]
    return sorted(markers, key=lambda marker: marker.at)


def format_event(event: Event) -> str:
    data = " ".join(f"{name}={value}" for name, value in event.data.items() if value not in (None, ""))
    return f"{event.kind} {data}".rstrip()


def find_exit_status(events: Sequence[Event]) -> tuple[int, int] | None:
    """Return when the pane's program exited and its status, 128 + n for signal n as in shells; None if unknown."""
    for event in reversed(events):
        if event.kind == "pane_died":
            status, signal = event.data.get("status"), event.data.get("signal")
            code = status if isinstance(status, int) else 128 + int(signal or 0)
            return event.at, code
    return None


def _encode_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
