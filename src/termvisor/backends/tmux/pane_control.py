"""Changes of tmux's panes: each one a single command list, guarded inside the server.

tmux takes a missing target for the current pane of the client, so every guard names its pane once more as a condition.
Replies are read line by line, so nothing that a pane can choose stands in them but the screen, which comes last, and
the name of the program, from which tmux itself takes every character that is not harmless.
"""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from termvisor.backends.pane_control import Client, Former, Guard, Mismatch, Outcome, Person, Sight
from termvisor.backends.tmux.client import new_token
from termvisor.backends.tmux.control_mode import quote
from termvisor.backends.tmux.key_names import is_key
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.backends.tmux.spawn_command import spawn_command
from termvisor.clock import NS
from termvisor.errors import BadRequest, MuxError
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId

_COMMAND = "#{s/[^A-Za-z0-9._+@ -]/?/:pane_current_command}"
_HARMLESS = re.compile(r"[A-Za-z0-9._+@ -]+")
_PIECE = re.compile(r"[A-Za-z0-9 .❯›●→]+")
_SEEN = (
    "#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized} #{alternate_on}"
    f" #{{pane_width}} #{{pane_height}} #{{cursor_x}} #{{cursor_y}} #{{cursor_flag}} {_COMMAND}"
)
_FRONT = "#{W:,#{P:,#{pane_id}}}"
_TAKES_INPUT = ("pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized")
_PEOPLE = "list-clients -F 'client #{client_control_mode} #{pane_id} #{client_activity} #{client_utf8} #{client_tty}'"


class TmuxControl:
    def __init__(self, server: TmuxServer):
        self._server = server

    async def see(self, pane: MuxPaneId) -> Sight | None:
        here = f"#{{==:#{{pane_id}},{pane}}}"
        told = f"{_looks(pane)} ; display-message -p -t {pane} '{_SEEN}'"
        reply = await self._server.client.request(
            f"if-shell -F -t {pane} '{here}' {{ {_PEOPLE} ; {told} ; {{body}} }}", f"capture-pane -p -J -e -t {pane}"
        )
        lines = [line.decode("utf-8", "replace") for line in reply.printed]
        if not lines:
            return None
        facts, looks = lines.pop(), lines.pop()
        sight = _sight(facts, [line.split(" ", 5) for line in lines], reply.body)
        _, front, title = _looked(looks)
        return replace(sight, front=MuxPaneId(front), title=title)

    async def clients(self) -> list[Client]:
        reply = await self._server.client.request(_PEOPLE)
        rows = [line.decode("utf-8", "replace").split(" ", 5) for line in reply.printed]
        return [_client(words) for words in rows if words[:2] == ["client", "0"]]

    async def write(self, guard: Guard, text: str) -> Outcome:
        if "\0" in text:
            raise BadRequest("a text with a NUL cannot be typed")
        buffer = new_token()
        return await self._guarded(
            guard, f"set-buffer -b {buffer} -- {quote(text)} ; paste-buffer -p -r -d -b {buffer} -t {guard.pane}"
        )

    async def press(self, guard: Guard, keys: Sequence[str]) -> Outcome:
        unknown = [key for key in keys if not is_key(key)]
        if unknown or not keys:
            raise BadRequest(f"there is no key {unknown[0]!r}" if unknown else "name at least one key")
        return await self._guarded(guard, f"send-keys -t {guard.pane} -- {' '.join(map(quote, keys))}")

    async def open(self, wanted: Spawn, beside: MuxPaneId | None) -> tuple[MuxPaneId, int]:
        reply = await self._server.client.request(spawn_command(wanted, beside))
        words = reply.printed[-1].decode("ascii", "replace").split() if reply.printed else []
        if len(words) != 2 or reply.error:
            raise MuxError(f"tmux could not start it: {reply.error or 'no answer'}")
        return MuxPaneId(words[0]), int(words[1])

    async def alter(
        self, guard: Guard, change: Literal["activate", "title", "close"], value: str = ""
    ) -> Mismatch | Former:
        pane = guard.pane
        commands = {
            "activate": f"select-window -t {pane} ; select-pane -t {pane} ; {_looks(pane)}",
            "title": f"select-pane -t {pane} -T {quote(value.replace('#', '##'))} ; {_looks(pane)}",
            "close": f"kill-pane -t {pane}",
        }
        found = await self._told(guard, f"{_looks(pane)} ; {commands[change]}")
        return found if isinstance(found, Mismatch) else _former(found)

    async def _guarded(self, guard: Guard, commands: str) -> Outcome:
        found = await self._told(guard, commands)
        return found if isinstance(found, Mismatch) else None

    async def _told(self, guard: Guard, commands: str) -> Mismatch | list[str]:
        """What the commands printed, once they were carried out."""
        done = new_token()
        why = f"display-message -p -t {guard.pane} {quote(_found(guard))}"
        reply = await self._server.client.request(
            f"if-shell -F -t {guard.pane} {quote(condition(guard))}"
            f" {{ {commands} ; display-message -p {done} }} {{ {why} }}"
        )
        if reply.printed[-1:] == (done.encode(),):
            return [line.decode("utf-8", "replace") for line in reply.printed[:-1]]
        if reply.printed:
            return mismatch(guard, reply.printed[-1].decode("utf-8", "replace"))
        if "can't find pane" in reply.error:
            return Mismatch("pane", guard.pane, "none")
        raise MuxError(f"tmux said: {reply.error or 'nothing'}")


def condition(guard: Guard) -> str:
    """The guard as a format of tmux: all of its parts must hold."""
    parts = [
        f"#{{==:#{{pane_id}},{guard.pane}}}",
        f"#{{==:#{{pane_pid}},{guard.pid}}}",
        *(f"#{{==:#{{{flag}}},0}}" for flag in _TAKES_INPUT if guard.takes_input),
    ]
    if guard.command is not None:
        if not _HARMLESS.fullmatch(guard.command):
            raise BadRequest(f"a program of this name cannot be guarded: {guard.command!r}")
        parts.append(f"#{{==:#{{pane_current_command}},{guard.command}}}")
    if guard.alternate is not None:
        parts.append(f"#{{==:#{{alternate_on}},{int(guard.alternate)}}}")
    parts += [_on_screen(text) for text in _shown(guard)]
    if guard.title is not None:
        parts.append(_titled(guard.title))
    if guard.front is not None:
        parts.append(f"#{{==:{_FRONT},{guard.front}}}")
    whole = parts.pop()
    while parts:
        whole = f"#{{&&:{parts.pop()},{whole}}}"
    return whole


def mismatch(guard: Guard, found: str) -> Mismatch:
    """The first expectation that did not hold, by what tmux printed of the pane."""
    words = found.split(" ", 9)
    if len(words) < 10:
        raise MuxError("tmux did not say why it refused")
    pane, pid, dead, mode, off, together, alternate, screen, titled, rest = words
    command, _, front = rest.rpartition(" ")
    shown = " / ".join(_shown(guard))
    checks = (
        Mismatch("pane", guard.pane, pane or "none"),
        Mismatch("pid", str(guard.pid), pid),
        Mismatch("dead", "0", dead),
        Mismatch("mode", "0", mode),
        Mismatch("input_off", "0", off),
        Mismatch("synchronized", "0", together),
        Mismatch("command", command if guard.command is None else guard.command, command),
        Mismatch("alternate", alternate if guard.alternate is None else str(int(guard.alternate)), alternate),
        Mismatch("screen", shown, shown if screen in ("-", "1" * len(_shown(guard))) else "not in any row"),
        Mismatch("title", guard.title or "", (guard.title or "") if titled == "1" else "another one"),
        Mismatch("front", front if guard.front is None else guard.front, front),
    )
    ignored = () if guard.takes_input else ("dead", "mode", "input_off", "synchronized")
    wrong = [check for check in checks if check.expected != check.actual and check.what not in ignored]
    # Between the condition and this line nothing can change: both stand in one command list.
    return wrong[0] if wrong else Mismatch("screen", "what was expected", "something else")


def _found(guard: Guard) -> str:
    """All that a guard asks for, as it is."""
    screen = "".join(map(_on_screen, _shown(guard))) or "-"
    titled = "1" if guard.title is None else _titled(guard.title)
    words = "#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized} #{alternate_on}"
    return f"{words} {screen} {titled} {_COMMAND} {_FRONT}"


def _titled(title: str) -> str:
    """Whether the title is this one; what a format would take for its own signs is marked as text."""
    text = re.sub(r"[#,}]", r"#\g<0>", title)
    return f"#{{==:#{{pane_title}},{text}}}"


def _looks(pane: MuxPaneId) -> str:
    """Prints what people see of a pane: who is in front of its session, and its title, in which tmux itself lets no
    control character stand."""
    return f"display-message -p -t {pane} 'looks {_FRONT} #{{pane_title}}'"


def _former(lines: list[str]) -> Former:
    (_, front, title), (_, _, new_title) = _looked(lines[0]), _looked(lines[-1])
    return Former(title=title, front=MuxPaneId(front), new_title=new_title)


def _looked(line: str) -> list[str]:
    words = line.split(" ", 2)
    if len(words) != 3 or words[0] != "looks":
        raise MuxError("tmux answered something that we cannot read")
    return words


def _shown(guard: Guard) -> tuple[str, ...]:
    """All that must stand on the screen."""
    return (guard.shows, *guard.rows) if guard.shows else guard.rows


def _on_screen(text: str) -> str:
    if not _PIECE.fullmatch(text):
        raise BadRequest("only letters, digits, blanks and pointers can be looked for on the screen")
    return f"#{{!=:#{{C:{text}}},0}}"


def _sight(facts: str, clients: list[list[str]], body: tuple[bytes, ...]) -> Sight:
    words = facts.split(" ", 12)
    if len(words) != 13:
        raise MuxError("tmux answered something that we cannot read")
    pane, command = MuxPaneId(words[0]), words[12]
    pid, dead, mode, off, together, alternate, width, height, x, y, cursor = (int(word or 0) for word in words[1:12])
    return Sight(
        pane=pane,
        pid=pid,
        command=command,
        dead=bool(dead),
        in_mode=bool(mode),
        input_off=bool(off),
        synchronized=bool(together),
        alternate=bool(alternate),
        width=width,
        height=height,
        cursor_x=x,
        cursor_y=y,
        cursor_visible=bool(cursor),
        rows=tuple(row.decode("utf-8", "replace") for row in body),
        people=tuple(_person(_client(words)) for words in clients if words[1:3] == ["0", pane]),
    )


def _person(client: Client) -> Person:
    return Person(client.tty, client.typed_at)


def _client(words: list[str]) -> Client:
    """``client 0 %5 1767268800 1 /dev/pts/3``: tmux tells the second of the last key, so it is taken for its end."""
    return Client(words[5], MuxPaneId(words[2]), (int(words[3]) + 1) * NS, words[4] == "1")
