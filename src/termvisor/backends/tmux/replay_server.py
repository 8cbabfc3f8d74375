"""Run a private tmux server that renders recordings for replay, on a socket that Termvisor does not watch.

It starts with the first pane and exits with the last one, or when the daemon is killed. A recording can only change its
own pane: no clipboard, no pass-through, no bell, no hooks, no attached terminal.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

from msgspec import Struct

from termvisor.backends.tmux.commands import TmuxClient, TmuxCommand
from termvisor.backends.tmux.native_client import NativeClient
from termvisor.backends.tmux.pane_source import identify_server
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.backends.tmux.replay_pane import PaneSize, ReplayPane
from termvisor.backends.tmux.server_safety import explain_no_native_client
from termvisor.backends.tmux.server_sockets import is_server_listening
from termvisor.errors import MuxError, StateConflict
from termvisor.system.subprocesses import ChildProcess, start_tied

_START_TIMEOUT_S = 10.0
# Maximum number of concurrent replays.
_MAX_PANES = 8

_SET_OPTIONS_COMMANDS = tuple(
    TmuxCommand("set-option", *words.split())
    for words in (
        "-sq set-clipboard off",
        "-sq buffer-limit 1",
        "-gq history-limit 1000",
        "-gq status off",
        "-gq bell-action none",
        "-wgq allow-passthrough off",
        "-wgq allow-rename off",
        "-wgq automatic-rename off",
        "-wgq monitor-bell off",
    )
)


class _RunningTmux(Struct):
    child: ChildProcess
    client: TmuxClient
    pane_count: int = 0

    async def is_answering(self) -> bool:
        """Return True if the server answers a request: a server that was just killed may still look alive."""
        try:
            await self.client.request(TmuxCommand("display-message", "-p", "here"))
        except MuxError:
            # A new server is started instead.
            return False
        return True

    def close(self) -> None:
        self.client.close()
        self.child.kill()
        self.child.wait()


class ReplayServer:
    def __init__(self, program: str, socket: str):
        self._program, self._socket = program, socket
        self._server: _RunningTmux | None = None
        # Two replays that start at the same time must share one server.
        self._start_lock = asyncio.Lock()
        self._pane_numbers = count(1)

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @asynccontextmanager
    async def open_pane(self, size: PaneSize) -> AsyncIterator[ReplayPane]:
        """Open an empty pane, starting the server if necessary.

        Raises MuxError if tmux fails and Conflict if too many replays are open.
        """
        server = await self._acquire_server()
        try:
            pane = await ReplayPane.create(server.client, f"{self._socket}.{next(self._pane_numbers)}", size)
            try:
                yield pane
            finally:
                await pane.close()
        finally:
            self._release_server(server)

    async def _acquire_server(self) -> _RunningTmux:
        async with self._start_lock:
            if self._server is None or not await self._server.is_answering():
                self._server = await self._start_server()
            if self._server.pane_count >= _MAX_PANES:
                raise StateConflict(f"{_MAX_PANES} replays are already running", hint="Wait until one of them ends.")
            self._server.pane_count += 1
            return self._server

    def _release_server(self, server: _RunningTmux) -> None:
        server.pane_count -= 1
        if server.pane_count:
            return
        server.close()
        if self._server is server:
            self._server = None
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._socket)

    async def _start_server(self) -> _RunningTmux:
        child = self._spawn_tmux()
        try:
            await self._wait_until_listening(child)
            client = await self._choose_client()
            await client.request(*_SET_OPTIONS_COMMANDS)
        # Also on cancellation: a server without panes would never exit.
        except BaseException:
            child.kill()
            child.wait()
            raise
        return _RunningTmux(child, client)

    async def _choose_client(self) -> TmuxClient:
        client = PlainClient(self._program, self._socket, count_fork=lambda: None)
        server = await identify_server(client, self._socket)
        return client if explain_no_native_client(server.version) else NativeClient(self._socket)

    def _spawn_tmux(self) -> ChildProcess:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._socket)
        devnull = os.open(os.devnull, os.O_RDWR)
        try:
            return start_tied(
                [self._program, "-D", "-f", os.devnull, "-S", self._socket], stdin=devnull, stdout=devnull
            )
        except OSError as error:
            raise MuxError(f"cannot start tmux: {error.strerror}") from error
        finally:
            os.close(devnull)

    async def _wait_until_listening(self, child: ChildProcess) -> None:
        try:
            async with asyncio.timeout(_START_TIMEOUT_S):
                while not is_server_listening(self._socket):
                    if child.poll() is not None:
                        raise MuxError("the replay server exited at once")
                    await asyncio.sleep(0.005)
        except TimeoutError as error:
            raise MuxError(f"tmux did not start within {_START_TIMEOUT_S:.0f} s") from error
