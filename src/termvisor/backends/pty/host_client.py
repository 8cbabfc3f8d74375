"""Start the PTY host, connect to it, start programs in it and change their terminals.

A program is started in two steps: `start_program` returns a terminal whose program is held before its first
instruction, `hold` hands the terminal to the recorder and lets the program run. Reports of the host keep ``programs``
up to date; subscribers are told each.
"""

import asyncio
import os
import signal as signals
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

import termvisor
from termvisor.backends.pty.host_connection import HostConnection, open_host_socket
from termvisor.backends.pty.host_messages import (
    HostedProgram,
    HostGuard,
    HostRefusal,
    TerminalFacts,
    build_spec,
    parse_facts,
    parse_program,
)
from termvisor.errors import Conflict, Unavailable
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.paths import Paths
from termvisor.pty_host.startup import EXIT_ALREADY_RUNNING, HostOptions
from termvisor.recorder.sockets import is_recorder_listening
from termvisor.system import subprocesses
from termvisor.system.files import open_log_file

_HOST_TIMEOUT_S = 10.0
_RECONNECT_DELAY_S = 0.01
_INLINE_BYTES = 2048
# The program reads what it was sent before; the kernel takes about 4 KB until then.
_ROOM_DELAY_S = 0.005
_PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(termvisor.__file__)))
_NO_GUARD = HostGuard()

SignalTarget = Literal["foreground", "program", "session"]
ReportProgram = Callable[[int, HostedProgram | None], None]
"""Takes a terminal that is new or has changed; None if it is gone."""
ReportLoss = Callable[[], None]
"""Called when the host has died."""


class PtyHostClient:
    """A connection to the one PTY host of an instance. All methods raise Unavailable if the host does not answer."""

    def __init__(self, paths: Paths):
        self._options = HostOptions(paths.pty_host_socket, paths.recorder_socket, paths.raw_dir, paths.pty_result_dir)
        self._log_file = f"{os.path.dirname(paths.log_file)}/pty-host.log"
        self._connection: HostConnection | None = None
        self._child: subprocesses.ChildProcess | None = None
        self._is_child_starting = False
        self._expects_end = False
        """The host hangs up because a request made it exit or upgrade itself."""
        self._starting = asyncio.Lock()
        self.programs: dict[int, HostedProgram] = {}
        self._highest_number = 0
        self._subscribers: list[tuple[ReportProgram, ReportLoss]] = []
        self._watchers: dict[int, list[asyncio.Future[HostedProgram | None]]] = {}

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and self._connection.is_ready

    @property
    def pid(self) -> int | None:
        return self._connection.pid if self._connection and self._connection.is_ready else None

    def subscribe(self, on_program: ReportProgram, on_lost: ReportLoss) -> Callable[[], None]:
        """Call the functions for every change of a terminal and for the host's death; return what ends that."""
        subscriber = (on_program, on_lost)
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    async def start(self, *, may_spawn: bool = True) -> dict[int, HostedProgram]:
        """Connect to the running host, or start one unless ``may_spawn`` is false, and return its terminals."""
        # Several tasks may want the first terminal at the same time.
        async with self._starting:
            if not self.is_connected:
                await _wait_with_timeout("answer", self._connect(may_spawn=may_spawn))
                if self._child and self.pid not in (None, self._child.pid):
                    await self._terminate_child(self._child)
        return dict(self.programs)

    async def start_program(
        self,
        argv: Sequence[str | bytes],
        *,
        cwd: str,
        env: Mapping[str, str],
        rows: int = 24,
        columns: int = 80,
        tag: bytes = b"",
    ) -> HostedProgram:
        """Open a terminal and hold the program in it. It runs once `hold` has succeeded.

        Raises ValueError for a word with a NUL byte, and OSError if the system has no room for it.
        """
        spec = build_spec(argv, cwd=cwd, env=env, rows=rows, columns=columns, tag=tag)
        await self.start()
        number, *words = self._expect(await self._request("start", spec))
        program = parse_program(number, words)
        # Its report may have come first, and may already be newer.
        return self.programs.setdefault(program.number, program)

    async def hold(self, number: int, pane: PaneId, epoch: EpochId) -> HostRefusal | None:
        """Hand the terminal to the recorder as this epoch, and let its program run. None if the recorder holds it."""
        try:
            return self._read_result(await self._request(f"hold {number} {pane}/{epoch}"))
        except OSError as error:
            return HostRefusal("recorder", f"unreachable: {error.strerror}")

    async def write(self, number: int, data: bytes, guard: HostGuard = _NO_GUARD) -> HostRefusal | None:
        """Type bytes if the guard holds; None if all were typed.

        Bytes for which the program has no room are typed as it reads, each time with the guard's pid and group.
        """
        rest = data
        while True:
            words = await self._write_once(number, rest, guard)
            if isinstance(words, HostRefusal):
                return words
            rest = rest[words:]
            if not rest:
                return None
            guard = HostGuard(pid=guard.pid, group=guard.group)
            await asyncio.sleep(_ROOM_DELAY_S)

    def send_answer(self, number: int, data: bytes) -> None:
        """Type what a terminal answers to its program; lost if the program has ended or reads nothing."""
        if self._connection is not None:
            for start in range(0, len(data), _INLINE_BYTES):
                self._connection.send_unanswered(f"write {number} - {data[start : start + _INLINE_BYTES].hex()}")

    async def send_signal(
        self, number: int, signal_number: int, whom: SignalTarget, guard: HostGuard = _NO_GUARD
    ) -> HostRefusal | None:
        """Signal the foreground group, the program itself, or every process of its session."""
        return self._read_result(
            await self._request(f"signal {number} {signal_number} {whom} {_format(guard)}".rstrip())
        )

    async def resize(self, number: int, rows: int, columns: int) -> HostRefusal | None:
        return self._read_result(await self._request(f"resize {number} {rows} {columns}"))

    async def read_facts(self, number: int) -> TerminalFacts | None:
        """Return the terminal's input modes and foreground group, or None if it does not exist."""
        words = await self._request(f"facts {number}")
        return parse_facts(words[1:]) if words[0] == "ok" else None

    async def set_tag(self, number: int, tag: bytes) -> HostRefusal | None:
        """Replace the bytes (up to 512) that the host keeps for us."""
        return self._read_result(await self._request(f"tag {number} {tag.hex()}"))

    async def allow_viewer(self, number: int, token: str, size_rule: str = "smallest") -> HostRefusal | None:
        """Let a viewer with this token type into the terminal and vote on its size."""
        return self._read_result(await self._request(f"grant {number} {token} {size_rule}"))

    def send_grant(self, number: int, token: str, size_rule: str) -> None:
        """Allow a viewer without waiting for the answer: what comes later on the socket finds it allowed."""
        if self._connection is None:
            raise Unavailable("the PTY host is not connected")
        self._connection.send_unanswered(f"grant {number} {token} {size_rule}")

    async def revoke_viewer(self, token: str) -> None:
        self._read_result(await self._request(f"revoke {token}"))

    async def forget_program(self, number: int) -> HostRefusal | None:
        """Close a terminal whose program has ended and delete its result."""
        return self._read_result(await self._request(f"forget {number}"))

    async def wait_exit(self, number: int) -> HostedProgram | None:
        """Wait until the program has ended; None if its terminal is gone. Raises Unavailable if the host is lost."""
        while (program := self.programs.get(number)) is not None and program.state != "exited":
            if not self.is_connected:
                raise Unavailable("the PTY host is not connected")
            watcher: asyncio.Future[HostedProgram | None] = asyncio.get_running_loop().create_future()
            self._watchers.setdefault(number, []).append(watcher)
            await watcher
        return program

    async def reexec(self, python: str = sys.executable, root: str = _PACKAGE_ROOT) -> None:
        """Make the host re-execute itself as the installed version, keeping programs and terminals.

        Raises Unavailable if the new program cannot run or does not answer in time.
        """
        await asyncio.to_thread(_check_image, python, root)
        await self.start()
        connection, self._expects_end = self._connection, True
        try:
            self._expect(await self._request(f"reexec {python}\t{root}"))
            if connection:
                await _wait_with_timeout("hang up", connection.hung_up)
            await self.start(may_spawn=False)
        finally:
            self._expects_end = False

    async def quit(self) -> HostRefusal | None:
        """Make the host exit, unless a program runs in it. Do nothing if no host is running."""
        if self.is_connected or is_recorder_listening(self._options.socket):
            await self.start()
            if refusal := await self._request_quit():
                return refusal
        if self._child:
            await self._terminate_child(self._child)
        return None

    async def _request_quit(self) -> HostRefusal | None:
        connection, self._expects_end = self._connection, True
        try:
            refusal = self._read_result(await self._request("quit"))
            if refusal is None and connection:
                await _wait_with_timeout("hang up", connection.hung_up)
        except Unavailable:
            if connection is None or not connection.hung_up.done():
                raise
            # Another client made it exit.
            return None
        finally:
            self._expects_end = False
        return refusal

    def close(self) -> None:
        """Close the connection; the host keeps running."""
        if self._connection:
            self._connection.close()
        self._connection = None
        self._wake_watchers()

    def detach(self) -> None:
        """Close the connection and disown the process, so that it outlives the daemon."""
        self.close()
        if self._child:
            self._child.disown()
            self._child = None

    async def _write_once(self, number: int, data: bytes, guard: HostGuard) -> int | HostRefusal:
        if len(data) <= _INLINE_BYTES:
            words = await self._request(f"write {number} {guard.encode()} {data.hex()}")
        else:
            words = await self._request(f"write {number} {guard.encode()} -", data)
        return self._read_result(words) or int(words[1])

    async def _request(self, line: str, attachment: bytes | None = None) -> list[str]:
        if self._connection is None:
            raise Unavailable("the PTY host is not connected")
        try:
            async with asyncio.timeout(_HOST_TIMEOUT_S):
                return await self._connection.request(line, attachment)
        except TimeoutError as error:
            raise Unavailable(f"the PTY host did not answer within {_HOST_TIMEOUT_S:.0f} s") from error

    def _expect(self, words: list[str]) -> list[str]:
        refusal = self._read_result(words)
        if refusal is not None:
            raise Conflict(f"the PTY host refused: {refusal.what} {refusal.actual}")
        return words[1:]

    @staticmethod
    def _read_result(words: list[str]) -> HostRefusal | None:
        """Return None for `ok`. Raises OSError or ValueError for what the host reports as an error."""
        match words:
            case ["ok", *_]:
                return None
            case ["refused", what, *actual]:
                return HostRefusal(what, " ".join(actual))
            case ["error", "errno", number]:
                raise OSError(int(number), os.strerror(int(number)))
        raise ValueError(f"the PTY host answered {' '.join(words)!r}")

    async def _connect(self, *, may_spawn: bool) -> None:
        while not self.is_connected:
            try:
                await self._open_connection()
            except (FileNotFoundError, ConnectionRefusedError) as error:
                if not may_spawn:
                    raise Unavailable("no PTY host is running") from error
                self._spawn_host()
                await asyncio.sleep(_RECONNECT_DELAY_S)
            except (BlockingIOError, ConnectionError):
                # Its accept queue is full.
                await asyncio.sleep(_RECONNECT_DELAY_S)

    async def _open_connection(self) -> None:
        connection = open_host_socket(self._options.socket)
        self.programs = {}
        self._connection = HostConnection(connection, self._note_program, self._handle_end)
        try:
            await self._connection.ready
        except BaseException:
            # Cancelled or refused: a half-open connection must not look connected.
            self.close()
            raise
        self._is_child_starting = False
        if self._highest_number and not self.programs:
            # A host after one that died: its programs may still be known by their numbers.
            self._connection.send_unanswered(f"number {self._highest_number + 1}")

    def _spawn_host(self) -> None:
        """Start a host unless our child is running. If two start at once, one exits with EXIT_ALREADY_RUNNING."""
        status = self._child.poll() if self._child else 0
        if status is None:
            return
        if self._is_child_starting and status not in (0, EXIT_ALREADY_RUNNING):
            self._is_child_starting = False
            raise Unavailable(f"the PTY host exited at once with status {status}", hint=f"See {self._log_file}.")
        self._is_child_starting = True
        with open_log_file(self._log_file) as log:
            command = self._options.build_command(sys.executable, _PACKAGE_ROOT)
            self._child = subprocesses.start_detached(command, log=log)

    async def _terminate_child(self, child: subprocesses.ChildProcess) -> None:
        child.kill(signals.SIGTERM)
        if await asyncio.to_thread(child.wait) is not None:
            self._child = None

    def _note_program(self, number: int, program: HostedProgram | None) -> None:
        if program is None:
            self.programs.pop(number, None)
        else:
            self.programs[number] = program
            self._highest_number = max(self._highest_number, number)
        for watcher in self._watchers.pop(number, []):
            if not watcher.done():
                watcher.set_result(program)
        for on_program, _ in list(self._subscribers):
            on_program(number, program)

    def _handle_end(self) -> None:
        was_connected = self.is_connected
        self._connection = None
        self._wake_watchers()
        if was_connected and not self._expects_end:
            for _, on_lost in list(self._subscribers):
                on_lost()

    def _wake_watchers(self) -> None:
        watchers, self._watchers = self._watchers, {}
        for waiting in watchers.values():
            for watcher in waiting:
                if not watcher.done():
                    watcher.set_result(None)


def _format(guard: HostGuard) -> str:
    text = guard.encode()
    return "" if text == "-" else text


async def _wait_with_timeout(verb: str, awaitable: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(_HOST_TIMEOUT_S):
            await awaitable
    except TimeoutError as error:
        raise Unavailable(f"the PTY host did not {verb} within {_HOST_TIMEOUT_S:.0f} s") from error


def _check_image(python: str, root: str) -> None:
    """Raise Unavailable if the new program cannot be imported, because executing it would lose every terminal."""
    load = f"import sys; sys.path[:0] = [{root!r}]; import termvisor.pty_host.process"
    status, _, errors = subprocesses.run_and_capture([python, "-ISE", "-c", load])
    if status:
        raise Unavailable(f"{python} cannot run the PTY host: {errors.decode(errors='replace').strip()[-200:]}")
