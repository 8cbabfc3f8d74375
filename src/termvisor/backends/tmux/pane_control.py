"""Changes of tmux's panes: each one a single command list, guarded inside the server.

tmux takes a missing target for the current pane of the client, so every guard names its pane once more as a condition.
Replies are read line by line, so nothing that a pane can choose stands in them but the screen, which comes last, and
the name of the program, from which tmux itself takes every character that is not harmless.
"""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from termvisor.backends.pane_control import (
    AppliedPaneChange,
    AttachedClient,
    GuardMismatch,
    GuardResult,
    PaneGuard,
    PaneState,
    PaneViewer,
)
from termvisor.backends.tmux.client import generate_token
from termvisor.backends.tmux.control_mode import quote_word
from termvisor.backends.tmux.key_names import is_key_name
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.backends.tmux.spawn_command import build_spawn_command
from termvisor.clock import NS
from termvisor.errors import BadRequest, MuxError
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId

_COMMAND_FORMAT = "#{s/[^A-Za-z0-9._+@ -]/?/:pane_current_command}"
_SAFE_COMMAND_NAME = re.compile(r"[A-Za-z0-9._+@ -]+")
_SEARCHABLE_TEXT = re.compile(r"[A-Za-z0-9 .❯›●→]+")
_PANE_STATE_FORMAT = (
    "#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized} #{alternate_on}"
    f" #{{pane_width}} #{{pane_height}} #{{cursor_x}} #{{cursor_y}} #{{cursor_flag}} {_COMMAND_FORMAT}"
)
_FRONT_PANE_FORMAT = "#{W:,#{P:,#{pane_id}}}"
_INPUT_BLOCKING_FLAGS = ("pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized")
_LIST_CLIENTS_COMMAND = (
    "list-clients -F 'client #{client_control_mode} #{pane_id} #{client_activity} #{client_utf8} #{client_tty}'"
)


class TmuxPaneControl:
    def __init__(self, server: TmuxServer):
        self._server = server

    async def read_pane_state(self, pane: MuxPaneId) -> PaneState | None:
        here = f"#{{==:#{{pane_id}},{pane}}}"
        told = f"{_build_view_command(pane)} ; display-message -p -t {pane} '{_PANE_STATE_FORMAT}'"
        reply = await self._server.client.request(
            f"if-shell -F -t {pane} '{here}' {{ {_LIST_CLIENTS_COMMAND} ; {told} ; {{body}} }}",
            f"capture-pane -p -J -e -t {pane}",
        )
        lines = [line.decode("utf-8", "replace") for line in reply.output_lines]
        if not lines:
            return None
        facts, looks = lines.pop(), lines.pop()
        sight = _parse_pane_state(facts, [line.split(" ", 5) for line in lines], reply.body)
        _, front, title = _split_view_line(looks)
        return replace(sight, front=MuxPaneId(front), title=title)

    async def list_clients(self) -> list[AttachedClient]:
        reply = await self._server.client.request(_LIST_CLIENTS_COMMAND)
        rows = [line.decode("utf-8", "replace").split(" ", 5) for line in reply.output_lines]
        return [_parse_client(words) for words in rows if words[:2] == ["client", "0"]]

    async def write(self, guard: PaneGuard, text: str) -> GuardResult:
        if "\0" in text:
            raise BadRequest("a text with a NUL cannot be typed")
        buffer = generate_token()
        return await self._run_guarded(
            guard, f"set-buffer -b {buffer} -- {quote_word(text)} ; paste-buffer -p -r -d -b {buffer} -t {guard.pane}"
        )

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        unknown = [key for key in keys if not is_key_name(key)]
        if unknown or not keys:
            raise BadRequest(f"there is no key {unknown[0]!r}" if unknown else "name at least one key")
        return await self._run_guarded(guard, f"send-keys -t {guard.pane} -- {' '.join(map(quote_word, keys))}")

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None) -> tuple[MuxPaneId, int]:
        reply = await self._server.client.request(build_spawn_command(spawn, beside))
        words = reply.output_lines[-1].decode("ascii", "replace").split() if reply.output_lines else []
        if len(words) != 2 or reply.error:
            raise MuxError(f"tmux could not start it: {reply.error or 'no answer'}")
        return MuxPaneId(words[0]), int(words[1])

    async def change_pane(
        self, guard: PaneGuard, change: Literal["activate", "title", "close"], value: str = ""
    ) -> GuardMismatch | AppliedPaneChange:
        pane = guard.pane
        commands = {
            "activate": f"select-window -t {pane} ; select-pane -t {pane} ; {_build_view_command(pane)}",
            "title": f"select-pane -t {pane} -T {quote_word(value.replace('#', '##'))} ; {_build_view_command(pane)}",
            "close": f"kill-pane -t {pane}",
        }
        found = await self._request_guarded(guard, f"{_build_view_command(pane)} ; {commands[change]}")
        return found if isinstance(found, GuardMismatch) else _parse_applied_change(found)

    async def _run_guarded(self, guard: PaneGuard, commands: str) -> GuardResult:
        found = await self._request_guarded(guard, commands)
        return found if isinstance(found, GuardMismatch) else None

    async def _request_guarded(self, guard: PaneGuard, commands: str) -> GuardMismatch | list[str]:
        """What the commands printed, once they were carried out."""
        done = generate_token()
        why = f"display-message -p -t {guard.pane} {quote_word(_build_guard_report_format(guard))}"
        reply = await self._server.client.request(
            f"if-shell -F -t {guard.pane} {quote_word(build_condition(guard))}"
            f" {{ {commands} ; display-message -p {done} }} {{ {why} }}"
        )
        if reply.output_lines[-1:] == (done.encode(),):
            return [line.decode("utf-8", "replace") for line in reply.output_lines[:-1]]
        if reply.output_lines:
            return parse_mismatch(guard, reply.output_lines[-1].decode("utf-8", "replace"))
        if "can't find pane" in reply.error:
            return GuardMismatch("pane", guard.pane, "none")
        raise MuxError(f"tmux said: {reply.error or 'nothing'}")


def build_condition(guard: PaneGuard) -> str:
    """The guard as a format of tmux: all of its parts must hold."""
    parts = [
        f"#{{==:#{{pane_id}},{guard.pane}}}",
        f"#{{==:#{{pane_pid}},{guard.pid}}}",
        *(f"#{{==:#{{{flag}}},0}}" for flag in _INPUT_BLOCKING_FLAGS if guard.takes_input),
    ]
    if guard.command is not None:
        if not _SAFE_COMMAND_NAME.fullmatch(guard.command):
            raise BadRequest(f"a program of this name cannot be guarded: {guard.command!r}")
        parts.append(f"#{{==:#{{pane_current_command}},{guard.command}}}")
    if guard.alternate is not None:
        parts.append(f"#{{==:#{{alternate_on}},{int(guard.alternate)}}}")
    parts += [_build_screen_condition(text) for text in _list_required_texts(guard)]
    if guard.title is not None:
        parts.append(_build_title_condition(guard.title))
    if guard.front is not None:
        parts.append(f"#{{==:{_FRONT_PANE_FORMAT},{guard.front}}}")
    whole = parts.pop()
    while parts:
        whole = f"#{{&&:{parts.pop()},{whole}}}"
    return whole


def parse_mismatch(guard: PaneGuard, answer: str) -> GuardMismatch:
    """The first expectation that did not hold, by what tmux printed of the pane."""
    words = answer.split(" ", 9)
    if len(words) < 10:
        raise MuxError("tmux did not say why it refused")
    pane, pid, dead, mode, off, together, alternate, screen, titled, rest = words
    command, _, front = rest.rpartition(" ")
    shown = " / ".join(_list_required_texts(guard))
    checks = (
        GuardMismatch("pane", guard.pane, pane or "none"),
        GuardMismatch("pid", str(guard.pid), pid),
        GuardMismatch("dead", "0", dead),
        GuardMismatch("mode", "0", mode),
        GuardMismatch("input_off", "0", off),
        GuardMismatch("synchronized", "0", together),
        GuardMismatch("command", command if guard.command is None else guard.command, command),
        GuardMismatch("alternate", alternate if guard.alternate is None else str(int(guard.alternate)), alternate),
        GuardMismatch(
            "screen", shown, shown if screen in ("-", "1" * len(_list_required_texts(guard))) else "not in any row"
        ),
        GuardMismatch("title", guard.title or "", (guard.title or "") if titled == "1" else "another one"),
        GuardMismatch("front", front if guard.front is None else guard.front, front),
    )
    ignored = () if guard.takes_input else ("dead", "mode", "input_off", "synchronized")
    wrong = [check for check in checks if check.expected != check.actual and check.what not in ignored]
    # Between the condition and this line nothing can change: both stand in one command list.
    return wrong[0] if wrong else GuardMismatch("screen", "what was expected", "something else")


def _build_guard_report_format(guard: PaneGuard) -> str:
    """All that a guard asks for, as it is."""
    screen = "".join(map(_build_screen_condition, _list_required_texts(guard))) or "-"
    titled = "1" if guard.title is None else _build_title_condition(guard.title)
    words = "#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized} #{alternate_on}"
    return f"{words} {screen} {titled} {_COMMAND_FORMAT} {_FRONT_PANE_FORMAT}"


def _build_title_condition(title: str) -> str:
    """Whether the title is this one; what a format would take for its own signs is marked as text."""
    text = re.sub(r"[#,}]", r"#\g<0>", title)
    return f"#{{==:#{{pane_title}},{text}}}"


def _build_view_command(pane: MuxPaneId) -> str:
    """Prints what people see of a pane: who is in front of its session, and its title, in which tmux itself lets no
    control character stand."""
    return f"display-message -p -t {pane} 'looks {_FRONT_PANE_FORMAT} #{{pane_title}}'"


def _parse_applied_change(lines: list[str]) -> AppliedPaneChange:
    (_, front, title), (_, _, new_title) = _split_view_line(lines[0]), _split_view_line(lines[-1])
    return AppliedPaneChange(old_title=title, old_front=MuxPaneId(front), new_title=new_title)


def _split_view_line(line: str) -> list[str]:
    words = line.split(" ", 2)
    if len(words) != 3 or words[0] != "looks":
        raise MuxError("tmux answered something that we cannot read")
    return words


def _list_required_texts(guard: PaneGuard) -> tuple[str, ...]:
    """All that must stand on the screen."""
    return (guard.shows, *guard.rows) if guard.shows else guard.rows


def _build_screen_condition(text: str) -> str:
    if not _SEARCHABLE_TEXT.fullmatch(text):
        raise BadRequest("only letters, digits, blanks and pointers can be looked for on the screen")
    return f"#{{!=:#{{C:{text}}},0}}"


def _parse_pane_state(facts: str, clients: list[list[str]], body: tuple[bytes, ...]) -> PaneState:
    words = facts.split(" ", 12)
    if len(words) != 13:
        raise MuxError("tmux answered something that we cannot read")
    pane, command = MuxPaneId(words[0]), words[12]
    pid, dead, mode, off, together, alternate, width, height, x, y, cursor = (int(word or 0) for word in words[1:12])
    return PaneState(
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
        viewers=tuple(_build_viewer(_parse_client(words)) for words in clients if words[1:3] == ["0", pane]),
    )


def _build_viewer(client: AttachedClient) -> PaneViewer:
    return PaneViewer(client.tty, client.typed_at)


def _parse_client(words: list[str]) -> AttachedClient:
    """``client 0 %5 1767268800 1 /dev/pts/3``: tmux tells the second of the last key, so it is taken for its end."""
    return AttachedClient(words[5], MuxPaneId(words[2]), (int(words[3]) + 1) * NS, words[4] == "1")
