"""Films of `visor export --cast`: asciicast 3, of which only what we paint ourselves is understood.

Rows are painted whole and places are given by number, so no terminal is needed to know what stood on the screen. A film
of another maker says more than that and is refused. Who the agent was stands in the markers.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.recordings.recording import Moment, Recording, no_recording
from termvisor.clock import NS
from termvisor.model.agent.agent_process import Place, Runtime
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.target import LOCAL

_PIECE = re.compile(r"\x1b\[(\??[0-9;:]*)([A-Za-z])|([^\x1b\x00-\x1f\x7f]+)")
_AGENT = re.compile(r"^(agent_began|state_changed|agent_ended)\b.*?\bagent=(\S+)(?:.*?\bpid=(\d{1,9}))?")
_PANE = PaneId(1)
_MOST = 1000
"""Columns or rows of a film."""


class Foreign(Exception):
    """Something that we never write into a film."""


class Header(Struct, frozen=True):
    version: int
    term: dict[str, Any]
    timestamp: int = 0
    title: str = ""


class Canvas(Struct):
    """What the film shows at one instant."""

    width: int
    height: int
    rows: dict[int, str] = {}
    x: int = 0
    y: int = 0

    def paint(self, data: str) -> None:
        """One line of the film."""
        reached = 0
        for piece in _PIECE.finditer(data):
            if piece.start() != reached:
                raise Foreign(f"it prints {data[reached : piece.start()]!r}")
            reached = piece.end()
            self._one(*piece.groups(""))
        if reached != len(data):
            raise Foreign(f"it prints {data[reached : reached + 8]!r}")

    def _one(self, given: str, what: str, text: str) -> None:
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
                raise Foreign(f"it uses the control sequence CSI {given}{what}")

    def resize(self, data: str) -> None:
        width, _, height = data.partition("x")
        if not (width.isdecimal() and height.isdecimal()):
            raise Foreign(f"it resizes to {data!r}")
        self.width, self.height, self.rows = int(width), int(height), {}

    def screen(self, at: int) -> Screen:
        rows = tuple(self.rows.get(number, "").rstrip() for number in range(min(self.height, _MOST)))
        return Screen(
            pane=_PANE, rows=rows, width=self.width, height=self.height, cursor_x=self.x, cursor_y=self.y, at=at
        )


def read(path: str, data: bytes) -> Recording:
    first, _, rest = data.partition(b"\n")
    try:
        head = msgspec.json.decode(first, type=Header)
        if head.version != 3:
            raise no_recording(path, f"it is an asciicast of version {head.version}, and only version 3 is read")
        film = _Film(head)
        moments = tuple(film.moments(rest.splitlines()))
    except (msgspec.DecodeError, UnicodeDecodeError, Foreign) as error:
        raise no_recording(path, f"as a film it is not one of ours: {error}") from error
    if not moments:
        raise no_recording(path, "the film shows nothing")
    place = Place(LOCAL.name, "", MuxPaneId(""))
    began = Runtime(id=RuntimeId(1), pane=_PANE, place=place, agent=film.agent, pid=film.pid, started_at=moments[0].at)
    return Recording(kind="cast", agent=film.agent, runtime=began, moments=moments, gone_at=film.gone_at)


class _Film:
    def __init__(self, head: Header):
        width, height = head.term.get("cols"), head.term.get("rows")
        if not isinstance(width, int) or not isinstance(height, int):
            raise Foreign("its header names no size")
        self._canvas = Canvas(width, height)
        self._at = head.timestamp * NS
        self.agent, self.pid = "", 0
        self.gone_at: int | None = None

    def moments(self, lines: list[bytes]) -> Iterator[Moment]:
        """One for every line that changed what is shown; those of one instant are one."""
        last: Moment | None = None
        for line in lines:
            if not line.strip() or line.startswith(b"#"):
                continue
            shown = self._take(*msgspec.json.decode(line, type=tuple[float, str, str]))
            if shown is None:
                continue
            if last is not None and last.at != shown.at:
                yield last
            last = shown
        if last is not None:
            yield last

    def _take(self, after: float, code: str, data: str) -> Moment | None:
        self._at += round(after * 1000) * (NS // 1000)
        if code == "m" and (told := _AGENT.match(data)):
            self._name(*told.groups(""))
        if code == "r":
            self._canvas.resize(data)
        if code != "o":
            return None
        self._canvas.paint(data)
        return Moment(at=self._at, screen=self._canvas.screen(self._at))

    def _name(self, event: str, agent: str, pid: str) -> None:
        self.agent, self.pid = agent, int(pid or self.pid)
        self.gone_at = self._at if event == "agent_ended" else None
