"""Ask one tmux server, through any client, for its panes, their screens and their pipes."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from termvisor.backends.pane_source import ROWS_ABOVE, CaptureRefusal, PaneCapture, PaneStatus
from termvisor.backends.tmux import list_formats
from termvisor.backends.tmux.commands import TmuxClient, TmuxCommand, build_guard, generate_token, parse_refusal
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.target import LOCAL
from termvisor.system.procfs import read_boot_id, read_start_time

_GEOMETRY_FORMAT = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag}"
_GEOMETRY_FIELDS = 6
_MAIN_GEOMETRY_FORMAT = _GEOMETRY_FORMAT.replace("cursor_x", "alternate_saved_x").replace(
    "cursor_y", "alternate_saved_y"
)
# About 170 bytes of commands per screen, in a message of at most 16 KB.
_MAX_SCREENS_PER_REQUEST = 64


class TmuxServer:
    def __init__(self, client: TmuxClient, instance: ServerInstance, *, version: str, exits_unattached: bool):
        self.client, self.instance = client, instance
        self.version, self.exits_unattached = version, exits_unattached

    async def list_pane_statuses(self) -> Mapping[MuxPaneId, PaneStatus]:
        return list_formats.parse_pane_statuses(await self._request_lines(list_formats.LIST_STATUSES_COMMAND))

    async def list_pane_facts(self) -> list[PaneFacts]:
        lines = await self._request_lines(list_formats.LIST_PANES_COMMAND)
        listing = list_formats.parse_pane_list(lines)
        self.exits_unattached = listing.exits_unattached
        return [replace(facts, pid_started=read_start_time(facts.pid)) for facts in listing.panes]

    async def open_pipe(
        self, pane: MuxPaneId, command: str, *, lines: int, replace: bool = False
    ) -> PaneCapture | CaptureRefusal:
        # In one request: `pipe-pane -o` would close another program's pipe, and a separate check would race.
        is_free = "1" if replace else "#{==:#{pane_pipe},0}"
        condition = f"#{{&&:#{{==:#{{pane_id}},{pane}}},#{{&&:{is_free},#{{==:#{{pane_dead}},0}}}}}}"
        reply = await self.client.request(
            build_guard(pane, condition, "#{pane_id} #{pane_pipe} #{pane_dead}"),
            TmuxCommand("pipe-pane", "-O", "-t", pane, command),
            *_build_capture_commands(pane, lines),
        )
        refusal = parse_refusal(reply)
        if refusal is not None:
            return _parse_pipe_refusal(refusal, pane)
        capture = None if reply.error else _parse_capture_lines(reply.lines[1:])
        if capture is None:
            raise MuxError(f"tmux cannot pipe {pane}: {reply.error or 'no answer'}")
        return await self._add_main_screen(pane, capture, lines) if capture.alternate else capture

    async def close_pipe(self, pane: MuxPaneId) -> None:
        # Fails without effect if the pane is gone.
        await self.client.request(TmuxCommand("pipe-pane", "-t", pane))

    async def capture_history(self, pane: MuxPaneId, lines: int, *, escapes: bool = False) -> PaneCapture:
        """Capture the screen and up to ``lines`` lines of scrollback. Raises MuxError if the pane is gone."""
        reply = await self.client.request(*_build_capture_commands(pane, lines, escapes=escapes))
        capture = None if reply.error else _parse_capture_lines(reply.lines)
        if capture is None:
            raise MuxError(f"pane {pane} is gone")
        return await self._add_main_screen(pane, capture, lines) if capture.alternate else capture

    async def _add_main_screen(self, pane: MuxPaneId, capture: PaneCapture, lines: int) -> PaneCapture:
        """Add the main screen, which does not change while the alternate screen is shown."""
        token = generate_token()
        reply = await self.client.request(
            TmuxCommand("display-message", "-p", "-t", pane, _MAIN_GEOMETRY_FORMAT),
            TmuxCommand("capture-pane", "-p", "-J", "-S", f"-{lines}", "-E", "-1", "-t", pane),
            TmuxCommand("display-message", "-p", "-t", pane, f"{token} #{{history_size}}"),
            TmuxCommand("capture-pane", "-a", "-q", "-p", "-J", "-t", pane),
        )
        mark = next((line for line in reply.lines if line.startswith(token.encode())), None)
        # The program left the alternate screen in the meantime, or the pane is gone: its output shows that.
        if mark is None or reply.error or _split_words(reply.lines[0])[4:5] != ["1"]:
            return capture
        place = reply.lines.index(mark)
        # Without scrollback, tmux prints the first row of the screen instead.
        history = reply.lines[1:place] if not mark.endswith(b" 0") else ()
        main = _parse_capture_lines((reply.lines[0], *history, *reply.lines[place + 1 :]))
        return capture if main is None else replace(capture, main=replace(main, alternate=False))

    async def capture_pane(self, pane: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        if lines:
            return await self.capture_history(pane, lines, escapes=escapes)
        # All in one request, so that nothing scrolls in between; the token separates two texts that the pane chose.
        token = generate_token()
        has_history = "#{?alternate_on,0,#{?#{==:#{history_size},0},0,1}}"
        reply = await self.client.request(
            *_build_capture_commands(pane, escapes=escapes),
            TmuxCommand("display-message", "-p", "-t", pane, f"{token}{has_history}"),
            TmuxCommand("capture-pane", "-p", "-J", "-S", f"-{ROWS_ABOVE}", "-E", "-1", "-t", pane),
        )
        mark = next((line for line in reply.lines if line.startswith(token.encode())), None)
        capture = None if mark is None or reply.error else _parse_capture_lines(reply.lines[: reply.lines.index(mark)])
        if capture is None or mark is None:
            raise MuxError(f"pane {pane} is gone")
        above = reply.lines[reply.lines.index(mark) + 1 :] if mark.endswith(b"1") else ()
        return replace(capture, rows_above=decode_rows(above))

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        captures: dict[MuxPaneId, PaneCapture] = {}
        remaining = list(panes)
        while remaining:
            batch = remaining[:_MAX_SCREENS_PER_REQUEST]
            captured = await self._capture_batch(batch)
            captures |= captured
            # The request ends at the first pane that is gone; the others are captured by the next one.
            remaining = remaining[max(1, len(captured) + (len(captured) < len(batch))) :]
        return [captures.get(pane) for pane in panes]

    async def _capture_batch(self, panes: Sequence[MuxPaneId]) -> dict[MuxPaneId, PaneCapture]:
        """Capture the screens of all panes before the first one that is gone."""
        token = generate_token()
        commands = [command for pane in panes for command in _build_capture_commands(pane, prefix=f"{token} ")]
        reply = await self.client.request(*commands)
        prefix = f"{token} ".encode()
        starts = [index for index, line in enumerate(reply.lines) if line.startswith(prefix)]
        captures = {}
        for pane, start, end in zip(panes, starts, [*starts[1:], len(reply.lines)], strict=False):
            capture = _parse_capture_lines((reply.lines[start].removeprefix(prefix), *reply.lines[start + 1 : end]))
            if capture is None or end == start + 1:
                break
            captures[pane] = capture
        return captures

    async def _request_lines(self, command: TmuxCommand) -> tuple[bytes, ...]:
        reply = await self.client.request(command)
        # A server without sessions (exit-empty off) has no panes to list.
        if reply.error and reply.error != "no current target":
            raise MuxError(f"tmux reported: {reply.error}")
        return reply.lines


async def identify_server(client: TmuxClient, socket: str, target: TargetName = LOCAL.name) -> TmuxServer:
    """Return the server behind a client, identified by its process. Raises MuxError if it does not answer."""
    reply = await client.request(list_formats.SERVER_INFO_COMMAND)
    info = list_formats.parse_server_info(reply.lines)
    if not info.get("pid", "").isdecimal():
        raise MuxError(f"cannot identify the tmux server at {socket}: {reply.error}")
    pid = int(info["pid"])
    instance = ServerInstance(target, socket, pid, read_start_time(pid), read_boot_id())
    exits_unattached = list_formats.is_option_on(info["exit-unattached"])
    return TmuxServer(client, instance, version=info["version"], exits_unattached=exits_unattached)


def _build_capture_commands(
    pane: MuxPaneId, lines: int = 0, *, escapes: bool = False, prefix: str = ""
) -> list[TmuxCommand]:
    """Return commands that print one line with the geometry, then the rows. The second fails if the pane is gone."""
    history = ["-S", f"-{lines}"] if lines else []
    return [
        TmuxCommand("display-message", "-p", "-t", pane, f"{prefix}{_GEOMETRY_FORMAT}"),
        TmuxCommand("capture-pane", "-p", "-J", *(["-e"] if escapes else []), *history, "-t", pane),
    ]


def _split_words(line: bytes) -> list[str]:
    return line.decode("ascii", "replace").split()


def decode_rows(lines: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(row.decode("utf-8", "replace") for row in lines)


def _parse_capture_lines(lines: Sequence[bytes]) -> PaneCapture | None:
    """Return the capture from a line with its geometry and its rows; None if tmux did not print the geometry."""
    words = _split_words(lines[0]) if lines else []
    if len(words) != _GEOMETRY_FIELDS or not all(word.isdecimal() for word in words):
        return None
    return parse_capture([int(word) for word in words], decode_rows(lines[1:]))


def parse_capture(geometry: Sequence[int], rows: tuple[str, ...]) -> PaneCapture:
    """Build a capture from rows and geometry: width, height, cursor x and y, alternate screen, cursor visible."""
    width, height, x, y, alternate, has_cursor = geometry
    return PaneCapture(
        rows=rows,
        width=width,
        height=height,
        cursor_x=x,
        cursor_y=y,
        has_cursor=bool(has_cursor),
        alternate=bool(alternate),
    )


def _parse_pipe_refusal(report: str, pane: MuxPaneId) -> CaptureRefusal:
    reported_pane, piped, dead = [*report.split(), "", "", ""][:3]
    if reported_pane != pane:
        return "gone"
    return "dead" if dead == "1" else "piped" if piped == "1" else "gone"
