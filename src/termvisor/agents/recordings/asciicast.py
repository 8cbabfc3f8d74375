"""Read asciicast recordings written by `visor export --cast`; only the sequences that it writes are supported.

Such a cast paints whole rows at absolute positions, so no terminal emulator is needed to get the screen. A cast of
another program uses more sequences and is rejected. The agent is named in the markers.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.recordings.recording import AgentRecording, RecordedMoment, build_recording_error
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.target import LOCAL

_TOKEN = re.compile(r"\x1b\[(\??[0-9;:]*)([A-Za-z])|([^\x1b\x00-\x1f\x7f]+)")
_AGENT_MARKER = re.compile(r"^(agent_began|state_changed|agent_ended)\b.*?\bagent=(\S+)(?:.*?\bpid=(\d{1,9}))?")
_PANE_ID = PaneId(1)
# Limit of columns and rows.
_MAX_DIMENSION = 1000


class UnsupportedCast(Exception):
    """The cast contains something that `visor export --cast` never writes."""


class CastHeader(Struct, frozen=True):
    """``width`` and ``height`` are of version 2, ``term`` is of version 3."""

    version: int
    width: Any = None
    height: Any = None
    term: dict[str, Any] = {}
    timestamp: int = 0
    title: str = ""


class CastScreen(Struct):
    """The screen of the cast at one instant."""

    width: int
    height: int
    rows: dict[int, str] = {}
    x: int = 0
    y: int = 0

    def paint(self, data: str) -> None:
        """Apply the output of one event."""
        reached = 0
        for token in _TOKEN.finditer(data):
            if token.start() != reached:
                raise UnsupportedCast(f"it prints {data[reached : token.start()]!r}")
            reached = token.end()
            self._apply_token(*token.groups(""))
        if reached != len(data):
            raise UnsupportedCast(f"it prints {data[reached : reached + 8]!r}")

    def _apply_token(self, params: str, final: str, text: str) -> None:
        match (final, params):
            case ("", _):
                self.rows[self.y] = self.rows.get(self.y, "") + text
            case ("J", "2"):
                self.rows = {}
            case ("K", "2"):
                self.rows.pop(self.y, None)
            case ("H", position) if re.fullmatch(r"\d{1,4};\d{1,4}", position):
                y, x = position.split(";")
                self.y, self.x = int(y) - 1, int(x) - 1
            case ("m", _) | ("h" | "l", "?7" | "?25"):
                return
            case _:
                raise UnsupportedCast(f"it uses the control sequence CSI {params}{final}")

    def resize(self, data: str) -> None:
        width, _, height = data.partition("x")
        if not (width.isdecimal() and height.isdecimal()):
            raise UnsupportedCast(f"it resizes to {data!r}")
        self.width, self.height, self.rows = int(width), int(height), {}

    def build_screen(self, at: int) -> Screen:
        rows = tuple(self.rows.get(number, "").rstrip() for number in range(min(self.height, _MAX_DIMENSION)))
        return Screen(
            pane=_PANE_ID, rows=rows, width=self.width, height=self.height, cursor_x=self.x, cursor_y=self.y, at=at
        )


def read_cast(path: str, data: bytes) -> AgentRecording:
    header_line, _, events = data.partition(b"\n")
    try:
        header = msgspec.json.decode(header_line, type=CastHeader)
        if header.version not in (2, 3):
            raise build_recording_error(path, f"asciicast version {header.version} is not supported, only 2 and 3")
        reader = _CastReader(header)
        moments = tuple(reader.read_moments(events.splitlines()))
    except (msgspec.DecodeError, UnicodeDecodeError, UnsupportedCast) as error:
        raise build_recording_error(path, f"it was not written by `visor export --cast`: {error}") from error
    if not moments:
        raise build_recording_error(path, "it contains no output")
    location = PaneLocation(LOCAL.name, "", MuxPaneId(""))
    agent_process = AgentProcess(
        id=RuntimeId(1), pane=_PANE_ID, place=location, agent=reader.agent, pid=reader.pid, started_at=moments[0].at
    )
    return AgentRecording(
        kind="cast", agent=reader.agent, runtime=agent_process, moments=moments, gone_at=reader.gone_at
    )


class _CastReader:
    def __init__(self, header: CastHeader):
        self._has_absolute_times = header.version == 2
        width, height = header.width, header.height
        if not self._has_absolute_times:
            width, height = header.term.get("cols"), header.term.get("rows")
        if not isinstance(width, int) or not isinstance(height, int):
            raise UnsupportedCast("its header has no terminal size")
        self._cast_screen = CastScreen(width, height)
        self._at = self._start = header.timestamp * NS
        self.agent, self.pid = "", 0
        self.gone_at: int | None = None

    def read_moments(self, lines: list[bytes]) -> Iterator[RecordedMoment]:
        """Yield one moment per instant with output."""
        last: RecordedMoment | None = None
        for line in lines:
            if not line.strip() or line.startswith(b"#"):
                continue
            moment = self._read_event(*msgspec.json.decode(line, type=tuple[float, str, str]))
            if moment is None:
                continue
            if last is not None and last.at != moment.at:
                yield last
            last = moment
        if last is not None:
            yield last

    def _read_event(self, after: float, code: str, data: str) -> RecordedMoment | None:
        # Since the start in version 2, since the previous event in version 3.
        self._at = (self._start if self._has_absolute_times else self._at) + round(after * 1000) * (NS // 1000)
        if code == "m" and (marker := _AGENT_MARKER.match(data)):
            event, self.agent, pid = marker.groups("")
            self.pid = int(pid or self.pid)
            self.gone_at = self._at if event == "agent_ended" else None
        if code == "r":
            self._cast_screen.resize(data)
        if code != "o":
            return None
        self._cast_screen.paint(data)
        return RecordedMoment(at=self._at, screen=self._cast_screen.build_screen(self._at))
