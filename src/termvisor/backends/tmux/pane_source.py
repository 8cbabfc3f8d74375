"""`PaneSource` for one tmux server, using a control client or a plain client."""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture, PaneStatus, PipeRefusal
from termvisor.backends.tmux import list_formats
from termvisor.backends.tmux.client import PRIVATE_SESSION, TmuxClient
from termvisor.backends.tmux.control_mode import ControlReply, quote_word
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.pane import LOCAL, PaneFacts, ServerInstance
from termvisor.system.procfs import read_start_time

PRIVATE_SESSION_CONDITION = (
    f"#{{||:#{{==:#{{session_name}},{PRIVATE_SESSION}}},#{{m:{PRIVATE_SESSION}-*,#{{session_name}}}}}}"
)
_NO_OTHER_SESSIONS_CONDITION = f"#{{==:#{{S:#{{?{PRIVATE_SESSION_CONDITION},,x}}}},}}"
"""A tmux format that is true if only private sessions (ours or another Termvisor's) are left."""

# Rows captured above the screen for redaction, because its first row may continue a wrapped line.
ROWS_ABOVE = 4
_GEOMETRY_FORMAT = '"#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag}"'


class TmuxServer:
    def __init__(self, client: TmuxClient, instance: ServerInstance, *, version: str, exits_unattached: bool):
        self.client, self.instance = client, instance
        self.version, self.exits_unattached = version, exits_unattached
        self.home_session = PRIVATE_SESSION
        """Name of the private session our control client is attached to."""
        self._private_panes: frozenset[str] = frozenset()

    async def list_pane_statuses(self) -> Mapping[MuxPaneId, PaneStatus]:
        return list_formats.parse_pane_statuses(
            (await self._request_body("", list_formats.LIST_STATUSES_COMMAND)), self._private_panes
        )

    async def list_pane_facts(self) -> list[PaneFacts]:
        panes = list_formats.parse_pane_facts(await self._request_body("", list_formats.LIST_PANES_COMMAND))
        self._private_panes = frozenset(facts.mux_id for facts in panes if is_private_session(facts.session_name))
        shown = [facts for facts in panes if facts.mux_id not in self._private_panes]
        return [replace(facts, pid_started=read_start_time(facts.pid)) for facts in shown]

    async def open_pipe(
        self, pane: MuxPaneId, command: str, *, lines: int, replace: bool = False
    ) -> PaneCapture | PipeRefusal:
        # In one command: `pipe-pane -o` would close another program's pipe, and a separate check would race.
        is_pane = f"#{{==:#{{pane_id}},{pane}}}"
        is_free = "1" if replace else "#{==:#{pane_pipe},0}"
        guard = f"#{{&&:{is_pane},#{{&&:{is_free},#{{==:#{{pane_dead}},0}}}}}}"
        commands = (
            f"pipe-pane -O -t {pane} {quote_word(command)} ; display-message -p -t {pane} {_GEOMETRY_FORMAT} ; {{body}}"
        )
        report = f"display-message -p -t {pane} 'refused #{{pane_id}} #{{pane_pipe}} #{{pane_dead}}'"
        reply = await self.client.request(
            f"if-shell -F -t {pane} '{guard}' {{ {commands} }} {{ {report} }}", _build_capture_command(pane, lines)
        )
        words = _split_reply(reply)
        if is_refusal(reply):
            return _parse_refusal(words, pane)
        if len(words) != 6 or reply.error:
            raise MuxError(f"tmux cannot pipe {pane}: {reply.error or 'no answer'}")
        return parse_capture([int(word) for word in words], decode_rows(reply))

    async def close_pipe(self, pane: MuxPaneId) -> None:
        await self.client.request(f"if-shell -F -t {pane} '#{{==:#{{pane_id}},{pane}}}' 'pipe-pane -t {pane}'")

    async def capture_pane(self, pane: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        # Send both requests before the first answer arrives, so that nothing scrolls between them.
        capture, rows_above = await asyncio.gather(
            self._request_capture(pane, lines, escapes=escapes), self._capture_rows_above(pane)
        )
        if capture is None:
            raise MuxError(f"pane {pane} is gone")
        return capture if lines else replace(capture, rows_above=rows_above)

    async def _capture_rows_above(self, pane: MuxPaneId) -> tuple[str, ...]:
        has_history = f"#{{&&:#{{==:#{{pane_id}},{pane}}},#{{?alternate_on,0,#{{history_size}}}}}}"
        reply = await self.client.request(
            f"if-shell -F -t {pane} '{has_history}' {{ {{body}} }}",
            f"capture-pane -p -J -S -{ROWS_ABOVE} -E -1 -t {pane}",
        )
        return decode_rows(reply)

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        """Capture several screens, sending all requests before the first answer arrives."""
        # The plain client would start a process for each screen.
        if self.client.kind != "control":
            return [None] * len(panes)
        return await asyncio.gather(*(self._request_capture(pane) for pane in panes))

    async def _request_capture(self, pane: MuxPaneId, lines: int = 0, *, escapes: bool = False) -> PaneCapture | None:
        guard = f"#{{==:#{{pane_id}},{pane}}}"
        commands = f"display-message -p -t {pane} {_GEOMETRY_FORMAT} ; {{body}}"
        reply = await self.client.request(
            f"if-shell -F -t {pane} '{guard}' {{ {commands} }}", _build_capture_command(pane, lines, escapes=escapes)
        )
        words = _split_reply(reply)
        return parse_capture([int(word) for word in words], decode_rows(reply)) if len(words) == 6 else None

    async def leave_if_last(self) -> None:
        """Kill our session if no other is left, so that the server exits as it would without us."""
        await self.client.request(
            f"if-shell -F '{_NO_OTHER_SESSIONS_CONDITION}' 'kill-session -t ={self.home_session}'"
        )

    async def choose_home_session(self, pid: int) -> str:
        """Return an unused name for our private session."""
        reply = await self.client.request(f'display-message -p "#{{S:#{{?{PRIVATE_SESSION_CONDITION},taken ,}}}}"')
        return f"{PRIVATE_SESSION}-{pid}" if any(b"taken" in line for line in reply.output_lines) else PRIVATE_SESSION

    async def _request_body(self, commands: str, body: str) -> tuple[bytes, ...]:
        reply = await self.client.request(commands, body)
        if reply.error:
            raise MuxError(f"tmux reported: {reply.error}")
        return reply.body


async def identify_server(client: TmuxClient, socket: str, target: TargetName = LOCAL.name) -> TmuxServer:
    """Return the server behind a client, identified by its process. Raises MuxError if it does not answer."""
    reply = await client.request("", list_formats.SERVER_INFO_COMMAND)
    info = list_formats.parse_server_info(reply.body)
    if not info.get("pid", "").isdecimal():
        raise MuxError(f"cannot identify the tmux server at {socket}: {reply.error}")
    pid = int(info["pid"])
    instance = ServerInstance(target, socket, pid, read_start_time(pid))
    return TmuxServer(
        client, instance, version=info["version"], exits_unattached=info["exit-unattached"] in ("1", "on")
    )


def is_private_session(session_name: str) -> bool:
    """Return True for the private session of this or another Termvisor."""
    return session_name == PRIVATE_SESSION or session_name.startswith(f"{PRIVATE_SESSION}-")


def is_refusal(reply: ControlReply) -> bool:
    """Return True if a guarded command did nothing because its condition did not hold."""
    return _split_reply(reply)[:1] == ["refused"]


def _split_reply(reply: ControlReply) -> list[str]:
    return reply.output_lines[0].decode("ascii", "replace").split() if reply.output_lines else []


def _build_capture_command(pane: MuxPaneId, lines: int, *, escapes: bool = False) -> str:
    return f"capture-pane -p -J {'-e ' if escapes else ''}{f'-S -{lines} ' if lines else ''}-t {pane}"


def decode_rows(reply: ControlReply) -> tuple[str, ...]:
    return tuple(row.decode("utf-8", "replace") for row in reply.body)


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


def _parse_refusal(words: list[str], pane: MuxPaneId) -> PipeRefusal:
    _, reported_pane, piped, dead = [*words, "", "", ""][:4]
    if reported_pane != pane:
        return "gone"
    return "dead" if dead == "1" else "piped" if piped == "1" else "gone"
