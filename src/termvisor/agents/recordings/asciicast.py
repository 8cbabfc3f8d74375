"""Films of `visor export --cast`: asciicast 3, of which only what we paint ourselves is understood.

Rows are painted whole and places are given by number, so no terminal is needed to know what stood on the screen. A film
of another maker says more than that and is refused. Who the agent was stands in the markers.
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
_MAX_DIMENSION = 1000
"""Columns or rows of a film."""


class UnsupportedCast(Exception):
    """Something that we never write into a film."""


class CastHeader(Struct, frozen=True):
    version: int
    term: dict[str, Any]
    timestamp: int = 0
    title: str = ""


class CastScreen(Struct):
    """What the film shows at one instant."""

    width: int
    height: int
    rows: dict[int, str] = {}
    x: int = 0
    y: int = 0

    def paint(self, data: str) -> None:
        """One line of the film."""
        reached = 0
        for piece in _TOKEN.finditer(data):
            if piece.start() != reached:
                raise UnsupportedCast(f"it prints {data[reached : piece.start()]!r}")
            reached = piece.end()
            self._apply_token(*piece.groups(""))
        if reached != len(data):
            raise UnsupportedCast(f"it prints {data[reached : reached + 8]!r}")

    def _apply_token(self, given: str, what: str, text: str) -> None:
        match (what, given):
            case ("", _):
                self.rows[self.y] = self.rows.get(self.y, "") + text
            case ("J", "2"):
                self.rows = {}
            case ("K", "2"):
                self.rows.pop(self.y, None)
            case ("H", place) if re.fullmatch(r"\d{1,4};\d{1,4}", place):
                y, x = place.split(";")
                self.y, self.x = int(y) - 1, int(x) - 1
            case ("m", _) | ("h" | "l", "?7" | "?25"):
                return
            case _:
                raise UnsupportedCast(f"it uses the control sequence CSI {given}{what}")

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
    first, _, rest = data.partition(b"\n")
    try:
        head = msgspec.json.decode(first, type=CastHeader)
        if head.version != 3:
            raise build_recording_error(
                path, f"it is an asciicast of version {head.version}, and only version 3 is read"
            )
        film = _CastReader(head)
        moments = tuple(film.read_moments(rest.splitlines()))
    except (msgspec.DecodeError, UnicodeDecodeError, UnsupportedCast) as error:
        raise build_recording_error(path, f"as a film it is not one of ours: {error}") from error
    if not moments:
        raise build_recording_error(path, "the film shows nothing")
    place = PaneLocation(LOCAL.name, "", MuxPaneId(""))
    began = AgentProcess(
        id=RuntimeId(1), pane=_PANE_ID, place=place, agent=film.agent, pid=film.pid, started_at=moments[0].at
    )
    return AgentRecording(kind="cast", agent=film.agent, runtime=began, moments=moments, gone_at=film.gone_at)


class _CastReader:
    def __init__(self, head: CastHeader):
        width, height = head.term.get("cols"), head.term.get("rows")
        if not isinstance(width, int) or not isinstance(height, int):
            raise UnsupportedCast("its header names no size")
        self._cast_screen = CastScreen(width, height)
        self._at = head.timestamp * NS
        self.agent, self.pid = "", 0
        self.gone_at: int | None = None

    def read_moments(self, lines: list[bytes]) -> Iterator[RecordedMoment]:
        """One for every line that changed what is shown; those of one instant are one."""
        last: RecordedMoment | None = None
        for line in lines:
            if not line.strip() or line.startswith(b"#"):
                continue
            shown = self._read_event(*msgspec.json.decode(line, type=tuple[float, str, str]))
            if shown is None:
                continue
            if last is not None and last.at != shown.at:
                yield last
            last = shown
        if last is not None:
            yield last

    def _read_event(self, after: float, code: str, data: str) -> RecordedMoment | None:
        self._at += round(after * 1000) * (NS // 1000)
        if code == "m" and (told := _AGENT_MARKER.match(data)):
            self._set_agent(*told.groups(""))
        if code == "r":
            self._cast_screen.resize(data)
        if code != "o":
            return None
        self._cast_screen.paint(data)
        return RecordedMoment(at=self._at, screen=self._cast_screen.build_screen(self._at))

    def _set_agent(self, event: str, agent: str, pid: str) -> None:
        self.agent, self.pid = agent, int(pid or self.pid)
        self.gone_at = self._at if event == "agent_ended" else None
