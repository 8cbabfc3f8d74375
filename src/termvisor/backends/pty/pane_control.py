"""Change own terminals (`PtyPaneControl`). A guard is checked on the screen that is shown, and the host types only if
the terminal has printed nothing since: it compares the end of the log, and what the recorder has not read yet, with
the offset of that screen in the same step in which it types. Output in between only means another try.
"""

import asyncio
import os
import re
import signal
from collections.abc import Mapping, Sequence
from typing import Literal

from termvisor.backends.pane_control import (
    AppliedChange,
    AppliedPaneChange,
    AttachedClient,
    GuardMismatch,
    GuardResult,
    PaneGuard,
    PaneState,
    PaneViewer,
)
from termvisor.backends.pty.host_messages import HostedProgram, HostGuard, HostRefusal
from termvisor.backends.pty.key_encoding import encode_keys
from termvisor.backends.pty.pane_ids import format_mux_id, parse_mux_id
from termvisor.backends.pty.pane_source import SPAWN_TAG, PtyServer, read_command_name
from termvisor.backends.pty.program_environment import build_program_environment, find_shell
from termvisor.errors import BadRequest, MuxError, Unsupported
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId
from termvisor.pty_host.spec import MAX_TEXT_BYTES
from termvisor.system import tty

_APPLICATION_CURSOR_MODE, _PASTE_MODE = 1, 2004
_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
# A program that animates its screen pauses between two frames.
_MAX_TRIES = 100
_RETRY_DELAY_S = 0.003
_CLOSE_SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL)
_CLOSE_DELAY_S = 1.0
_MAX_NAME_BYTES = 64
_UNSAFE_NAME_CHARACTER = re.compile(r"[^A-Za-z0-9._+@ -]")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
DEFAULT_ROWS, DEFAULT_COLUMNS = 40, 120


class PtyPaneControl:
    """Control of the terminals of one host. ``environment`` is what new programs inherit."""

    def __init__(self, server: PtyServer, environment: Mapping[str, str]):
        self._server, self._client, self._environment = server, server.client, environment

    async def read_pane_state(self, pane: MuxPaneId) -> PaneState | None:
        program = self._server.find_program(pane)
        screen = self._server.screens.get(parse_mux_id(pane))
        if program is None or screen is None:
            return None
        capture = await screen.capture(escapes=True)
        return PaneState(
            pane=pane,
            pid=program.pid,
            command=_read_foreground_name(program)[0],
            dead=program.state == "exited",
            in_mode=False,
            input_off=not self._client.is_connected,
            synchronized=False,
            alternate=capture.alternate,
            width=capture.width,
            height=capture.height,
            cursor_x=capture.cursor_x,
            cursor_y=capture.cursor_y,
            cursor_visible=capture.has_cursor,
            rows=capture.rows,
            viewers=tuple(PaneViewer(each.tty, each.typed_at) for each in _list_viewers(program)),
            title=screen.model.title,
            front=pane,
        )

    async def list_clients(self) -> list[AttachedClient]:
        return [client for program in self._client.programs.values() for client in _list_viewers(program)]

    async def write(self, guard: PaneGuard, text: str) -> GuardResult:
        data = text.encode("utf-8", "surrogateescape")
        if b"\0" in data or _PASTE_END in data:
            raise BadRequest("the text contains a NUL character or the end of a paste, which cannot be typed")
        if len(data) > MAX_TEXT_BYTES - len(_PASTE_BEGIN + _PASTE_END):
            raise BadRequest("the text is too long to be typed")
        is_pasted = self._is_mode_set(guard.pane, _PASTE_MODE)
        return await self._type(guard, _PASTE_BEGIN + data + _PASTE_END if is_pasted else data)

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        if not keys:
            raise BadRequest("name at least one key")
        is_application = self._is_mode_set(guard.pane, _APPLICATION_CURSOR_MODE)
        return await self._type(guard, encode_keys(keys, application_cursor=is_application))

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None, gate: str = "") -> tuple[MuxPaneId, int]:
        """Start the program in a terminal of its own. It is held until its output is captured."""
        env = build_program_environment(self._environment) | spawn.env
        command = spawn.command or (find_shell(env),)
        cwd = spawn.cwd or env.get("HOME", "/")
        _check_program(command[0], cwd, env)
        try:
            program = await self._client.start_program(
                command,
                cwd=cwd,
                env=env,
                rows=DEFAULT_ROWS,
                columns=DEFAULT_COLUMNS,
                tag=SPAWN_TAG + os.path.basename(command[0]).encode("utf-8", "replace")[:_MAX_NAME_BYTES],
            )
        except (OSError, ValueError) as error:
            raise MuxError(f"the PTY host cannot start the program: {error}") from error
        return format_mux_id(program.number), program.pid

    async def change_pane(
        self, guard: PaneGuard, change: Literal["activate", "title", "close"], value: str = ""
    ) -> GuardMismatch | AppliedPaneChange:
        if change != "close":
            raise Unsupported(f"own terminals do not support the change {change!r}")
        program = self._server.find_program(guard.pane)
        if program is None:
            return GuardMismatch("pane", guard.pane, "none")
        if program.pid != guard.pid:
            return GuardMismatch("pid", str(guard.pid), str(program.pid))
        for number in _CLOSE_SIGNALS:
            await self._client.send_signal(program.number, number, "session", HostGuard())
            try:
                async with asyncio.timeout(_CLOSE_DELAY_S):
                    await self._client.wait_exit(program.number)
                break
            except TimeoutError:
                # It ignores the signal; the next one is harder.
                continue
        return AppliedPaneChange()

    def _is_mode_set(self, pane: MuxPaneId, mode: int) -> bool:
        screen = self._server.screens.get(parse_mux_id(pane))
        return screen is not None and screen.model.is_mode_set(mode)

    async def _type(self, guard: PaneGuard, data: bytes) -> GuardResult:
        """Type once the guard holds on a screen that is current in that moment."""
        number = parse_mux_id(guard.pane)
        for _ in range(_MAX_TRIES):
            mismatch, host_guard = await self._check(guard)
            if mismatch is not None or host_guard is None:
                return mismatch or GuardMismatch("pane", guard.pane, "none")
            refusal = await self._write(number, data, host_guard)
            if refusal is None:
                return AppliedChange(guarantee="atomic")
            if refusal.what == "pid":
                return GuardMismatch("dead" if refusal.actual == "0" else "pid", str(guard.pid), refusal.actual)
            if refusal.what == "terminal":
                return GuardMismatch("pane", guard.pane, "none")
            # The screen or the foreground program changed: look again.
            await asyncio.sleep(_RETRY_DELAY_S)
        return GuardMismatch("screen", "a screen that pauses", "a program that prints without a pause")

    async def _write(self, number: int, data: bytes, guard: HostGuard) -> HostRefusal | None:
        try:
            return await self._client.write(number, data, guard)
        except OSError:
            # No process has the terminal open any more.
            return HostRefusal("pid", "0")

    async def _check(self, guard: PaneGuard) -> tuple[GuardMismatch | None, HostGuard | None]:
        """Return the first condition that fails on the current screen, or what the host must check."""
        if not self._client.is_connected:
            raise MuxError("the PTY host has died: nothing can be typed into its terminals")
        program = self._client.programs.get(parse_mux_id(guard.pane))
        screen = self._server.screens.get(parse_mux_id(guard.pane))
        if program is None or screen is None:
            return GuardMismatch("pane", guard.pane, "none"), None
        if program.pid != guard.pid:
            return GuardMismatch("pid", str(guard.pid), str(program.pid)), None
        if program.state == "exited":
            return GuardMismatch("dead", "0", "1"), None
        command, group = _read_foreground_name(program)
        if guard.command is not None and guard.command != command:
            return GuardMismatch("command", guard.command, command), None
        state = await self.read_pane_state(guard.pane)
        mismatch = None if state is None else find_screen_mismatch(guard, state)
        has_group = guard.command is not None and group > 0
        checked = HostGuard(pid=program.pid, group=group if has_group else None, output=0, log=screen.shown_offset)
        # A program that is still held has no log, and nothing on its screen.
        return mismatch, checked if program.stream else HostGuard(pid=program.pid, output=0)


def find_screen_mismatch(guard: PaneGuard, state: PaneState) -> GuardMismatch | None:
    """Return the first condition about the screen that fails."""
    if guard.alternate is not None and guard.alternate != state.alternate:
        return GuardMismatch("alternate", str(int(guard.alternate)), str(int(state.alternate)))
    required = (guard.shows, *guard.rows) if guard.shows else guard.rows
    rows = [_ESCAPE.sub("", row) for row in state.rows]
    if not all(any(text in row for row in rows) for text in required):
        return GuardMismatch("screen", " / ".join(required), "not in any row")
    cursor = (state.cursor_x, state.cursor_y)
    if guard.cursor is not None and guard.cursor != cursor:
        return GuardMismatch("cursor", f"{guard.cursor[0]}/{guard.cursor[1]}", f"{cursor[0]}/{cursor[1]}")
    if guard.title is not None and guard.title != state.title:
        return GuardMismatch("title", guard.title, "another one")
    if guard.front is not None and guard.front != state.front:
        return GuardMismatch("front", guard.front, state.front or "none")
    return None


def _check_program(name: str, cwd: str, env: Mapping[str, str]) -> None:
    """Raise BadRequest if the folder or the program does not exist: the host would only report a failed exec."""
    # Half a megabyte that only a daemon with own terminals needs.
    import shutil

    if not os.path.isdir(cwd):
        raise BadRequest(f"there is no folder {cwd}")
    path = os.path.join(cwd, name) if "/" in name else name
    if shutil.which(path, path=env.get("PATH")) is None:
        raise BadRequest(f"cannot find the program {name!r}", hint="Give its full path, or check PATH of the daemon.")


def _read_foreground_name(program: HostedProgram) -> tuple[str, int]:
    """Return the name of the program in the foreground, in the characters that guards compare, and its group."""
    group = tty.find_foreground_group(program.pid)
    name = read_command_name(group) or read_command_name(program.pid)
    return _UNSAFE_NAME_CHARACTER.sub("?", name), group


def _list_viewers(program: HostedProgram) -> list[AttachedClient]:
    """Return the attached terminals of a program; the host knows when the last one of them typed."""
    if not program.typed_at and not program.viewers:
        return []
    return [AttachedClient(program.tty, format_mux_id(program.number), program.typed_at, is_utf8=True)]
