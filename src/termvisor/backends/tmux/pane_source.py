"""One tmux server as a PaneSource, over whichever client reaches it."""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from termvisor.backends.pane_source import Capture, Refusal, Thin
from termvisor.backends.tmux import list_formats as listing
from termvisor.backends.tmux.client import PRIVATE_SESSION, Client
from termvisor.backends.tmux.control_mode import Reply, quote
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.target import LOCAL
from termvisor.system.process_start import started

IS_PRIVATE = f"#{{||:#{{==:#{{session_name}},{PRIVATE_SESSION}}},#{{m:{PRIVATE_SESSION}-*,#{{session_name}}}}}}"
_NO_OTHERS = f"#{{==:#{{S:#{{?{IS_PRIVATE},,x}}}},}}"
"""True when only sessions of ours, or of another Termvisor, are left."""

_ABOVE = 4
"""Rows above the screen that tell how its first row begins."""
_GEOMETRY = '"#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag}"'


class TmuxServer:
    def __init__(self, client: Client, instance: ServerInstance, *, version: str, exits_unattached: bool):
        self.client, self.instance = client, instance
        self.version, self.exits_unattached = version, exits_unattached
        self.home = PRIVATE_SESSION
        """The name of the session that our control client lives on."""
        self._hidden: frozenset[str] = frozenset()

    async def thin(self) -> Mapping[MuxPaneId, Thin]:
        return listing.parse_thin((await self._ask("", listing.THIN)), self._hidden)

    async def facts(self) -> list[PaneFacts]:
        found = listing.parse_full(await self._ask("", listing.FULL))
        self._hidden = frozenset(facts.mux_id for facts in found if is_private(facts.session_name))
        return [_with_start(facts) for facts in found if facts.mux_id not in self._hidden]

    async def open_pipe(self, pane: MuxPaneId, command: str, *, lines: int, replace: bool = False) -> Capture | Refusal:
        here = f"#{{==:#{{pane_id}},{pane}}}"
        free = "1" if replace else "#{==:#{pane_pipe},0}"
        guard = f"#{{&&:{here},#{{&&:{free},#{{==:#{{pane_dead}},0}}}}}}"
        do = f"pipe-pane -O -t {pane} {quote(command)} ; display-message -p -t {pane} {_GEOMETRY} ; {{body}}"
        why = f"display-message -p -t {pane} 'refused #{{pane_id}} #{{pane_pipe}} #{{pane_dead}}'"
        reply = await self.client.request(
            f"if-shell -F -t {pane} '{guard}' {{ {do} }} {{ {why} }}", _capture_command(pane, lines)
        )
        words = _words(reply)
        if is_refused(reply):
            return _refusal(words, pane)
        if len(words) != 6 or reply.error:
            raise MuxError(f"tmux could not pipe {pane}: {reply.error or 'no answer'}")
        return _captured(words, reply.body)

    async def close_pipe(self, pane: MuxPaneId) -> None:
        await self.client.request(f"if-shell -F -t {pane} '#{{==:#{{pane_id}},{pane}}}' 'pipe-pane -t {pane}'")

    async def capture(self, pane: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> Capture:
        # Both are on their way before the first answer comes, so that nothing scrolls between them.
        seen, above = await asyncio.gather(self._capture(pane, lines, escapes=escapes), self._above(pane))
        if seen is None:
            raise MuxError(f"pane {pane} is gone")
        return seen if lines else replace(seen, above=above)

    async def _above(self, pane: MuxPaneId) -> tuple[str, ...]:
        has_some = f"#{{&&:#{{==:#{{pane_id}},{pane}}},#{{?alternate_on,0,#{{history_size}}}}}}"
        reply = await self.client.request(
            f"if-shell -F -t {pane} '{has_some}' {{ {{body}} }}", f"capture-pane -p -J -S -{_ABOVE} -E -1 -t {pane}"
        )
        return tuple(row.decode("utf-8", "replace") for row in reply.body)

    async def looks(self, panes: Sequence[MuxPaneId]) -> list[Capture | None]:
        """All requests are on their way before the first answer comes; each has a token of its own."""
        if self.client.kind != "control":
            return [None] * len(panes)
        return await asyncio.gather(*(self._capture(pane) for pane in panes))

    async def _capture(self, pane: MuxPaneId, lines: int = 0, *, escapes: bool = False) -> Capture | None:
        guard = f"#{{==:#{{pane_id}},{pane}}}"
        do = f"display-message -p -t {pane} {_GEOMETRY} ; {{body}}"
        reply = await self.client.request(
            f"if-shell -F -t {pane} '{guard}' {{ {do} }}", _capture_command(pane, lines, escapes=escapes)
        )
        words = _words(reply)
        return _captured(words, reply.body) if len(words) == 6 else None

    async def leave_if_last(self) -> None:
        """End our session when no other is left, so that the server ends when it would have ended without us."""
        await self.client.request(f"if-shell -F '{_NO_OTHERS}' 'kill-session -t ={self.home}'")

    async def free_home(self, pid: int) -> str:
        """A name for our session that nobody has."""
        reply = await self.client.request(f'display-message -p "#{{S:#{{?{IS_PRIVATE},taken ,}}}}"')
        return f"{PRIVATE_SESSION}-{pid}" if any(b"taken" in line for line in reply.printed) else PRIVATE_SESSION

    async def _ask(self, commands: str, body: str) -> tuple[bytes, ...]:
        reply = await self.client.request(commands, body)
        if reply.error:
            raise MuxError(f"tmux said: {reply.error}")
        return reply.body


async def identify(client: Client, socket: str, target: TargetName = LOCAL.name) -> TmuxServer:
    """Ask a server who it is."""
    reply = await client.request("", listing.SERVER)
    who = listing.parse_server(reply.body)
    if not who.get("pid", "").isdecimal():
        raise MuxError(f"{socket} did not say who it is: {reply.error}")
    pid = int(who["pid"])
    instance = ServerInstance(target, socket, pid, started(pid))
    return TmuxServer(client, instance, version=who["version"], exits_unattached=who["exit-unattached"] in ("1", "on"))


def is_private(session_name: str) -> bool:
    """Whether a session is a Termvisor's own."""
    return session_name == PRIVATE_SESSION or session_name.startswith(f"{PRIVATE_SESSION}-")


def is_refused(reply: Reply) -> bool:
    """Whether a guarded command found its pane not as expected and did nothing."""
    return _words(reply)[:1] == ["refused"]


def _words(reply: Reply) -> list[str]:
    return reply.printed[0].decode("ascii", "replace").split() if reply.printed else []


def _capture_command(pane: MuxPaneId, lines: int, *, escapes: bool = False) -> str:
    return f"capture-pane -p -J {'-e ' if escapes else ''}{f'-S -{lines} ' if lines else ''}-t {pane}"


def _captured(words: list[str], body: tuple[bytes, ...]) -> Capture:
    width, height, x, y, alternate, shown = (int(word or 0) for word in words)
    rows = tuple(row.decode("utf-8", "replace") for row in body)
    return Capture(
        rows=rows,
        width=width,
        height=height,
        cursor_x=x,
        cursor_y=y,
        has_cursor=bool(shown),
        alternate=bool(alternate),
    )


def _refusal(words: list[str], pane: MuxPaneId) -> Refusal:
    _, found, piped, dead = [*words, "", "", ""][:4]
    if found != pane:
        return "gone"
    return "dead" if dead == "1" else "piped" if piped == "1" else "gone"


def _with_start(facts: PaneFacts) -> PaneFacts:
    return replace(facts, pid_started=started(facts.pid))
