"""A tmux server of our own, on a socket that nobody watches, where recorded bytes are drawn once more.

It is there while somebody draws, and it ends with its last pane; when we are killed, it dies with us. What a recording
says can only change its own pane: no clipboard, no pass-through, no bell, no hooks, nobody attached.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

from msgspec import Struct

from termvisor.backends.tmux.client import ControlClient, control_argv
from termvisor.backends.tmux.replay_pane import Easel, Size
from termvisor.backends.tmux.server_sockets import answers
from termvisor.errors import Conflict, MuxError
from termvisor.system.subprocesses import Child, tied

_STARTS_WITHIN = 10.0
_MOST = 8
"""So many recordings may be drawn at once."""

_OPTIONS = " ; ".join(
    f"set -{flags} {option}"
    for flags, option in (
        ("sq", "set-clipboard off"),
        ("sq", "buffer-limit 1"),
        ("gq", "history-limit 1000"),
        ("gq", "status off"),
        ("gq", "bell-action none"),
        ("wgq", "allow-passthrough off"),
        ("wgq", "allow-rename off"),
        ("wgq", "automatic-rename off"),
        ("wgq", "monitor-bell off"),
    )
)


class _Server(Struct):
    child: Child
    client: ControlClient
    panes: int = 0

    async def answers(self) -> bool:
        """One that was just killed may look alive until it is asked."""
        try:
            await self.client.request("display-message -p here")
        except MuxError:
            return False
        return True

    def close(self) -> None:
        self.client.close()
        self.child.kill()
        self.child.wait()


class Studio:
    def __init__(self, program: str, socket: str):
        self._program, self._socket = program, socket
        self._server: _Server | None = None
        self._starting = asyncio.Lock()
        self._numbers = count(1)

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @asynccontextmanager
    async def easel(self, size: Size) -> AsyncIterator[Easel]:
        """An empty pane to draw on. ``MuxError`` when tmux fails; with the next one it is started anew."""
        server = await self._enter()
        try:
            easel = await Easel.set_up(server.client, f"{self._socket}.{next(self._numbers)}", size)
            try:
                yield easel
            finally:
                await easel.take_down()
        finally:
            self._leave(server)

    async def _enter(self) -> _Server:
        async with self._starting:
            if self._server is None or not await self._server.answers():
                self._server = await self._start()
            if self._server.panes >= _MOST:
                raise Conflict(f"{_MOST} recordings are being drawn already", hint="Wait until one of them has ended.")
            self._server.panes += 1
            return self._server

    def _leave(self, server: _Server) -> None:
        server.panes -= 1
        if server.panes:
            return
        server.close()
        if self._server is server:
            self._server = None
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._socket)

    async def _start(self) -> _Server:
        child = self._spawn()
        try:
            await self._answering(child)
            client = ControlClient(control_argv(self._program, self._socket), notice=lambda _: None)
            try:
                await client.attached()
                await client.request(_OPTIONS)
            except BaseException:
                client.close()
                raise
        except BaseException:
            child.kill()
            child.wait()
            raise
        return _Server(child, client)

    def _spawn(self) -> Child:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._socket)
        nothing = os.open(os.devnull, os.O_RDWR)
        try:
            return tied([self._program, "-D", "-f", os.devnull, "-S", self._socket], stdin=nothing, stdout=nothing)
        except OSError as error:
            raise MuxError(f"tmux could not be started: {error.strerror}") from error
        finally:
            os.close(nothing)

    async def _answering(self, child: Child) -> None:
        try:
            async with asyncio.timeout(_STARTS_WITHIN):
                while not answers(self._socket):
                    if child.poll() is not None:
                        raise MuxError("tmux ended before it drew anything")
                    await asyncio.sleep(0.005)
        except TimeoutError as error:
            raise MuxError(f"tmux did not start within {_STARTS_WITHIN:.0f} s") from error
