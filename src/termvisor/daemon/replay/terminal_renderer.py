"""Render an own terminal in a private tmux, on machines that libghostty-vt does not run on.

The pane gets what the program has printed only when its screen is captured. Wrapped rows are not joined.
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import cache

from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.backends.screen_renderer import BuildRenderer
from termvisor.backends.tmux.replay_pane import PaneSize, ReplayPane
from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.errors import MuxError, StateConflict
from termvisor.settings import Paths, Settings

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x0e\x0f]")


class TerminalRenderer:
    """The pane of one own terminal in the private server."""

    def __init__(self, server: ReplayServer):
        self._server, self._stack = server, AsyncExitStack()
        self._pane: ReplayPane | None = None
        self._size: tuple[int, int] | None = None
        self._lock = asyncio.Lock()

    async def render(self, data: bytes, size: tuple[int, int], *, escapes: bool) -> PaneCapture:
        """Return the screen after these further bytes. Raises MuxError if tmux fails."""
        async with self._lock:
            try:
                pane = self._pane or await self._open_pane(size)
                if size != self._size:
                    await pane.resize(PaneSize(*size))
                    self._size = size
                if data:
                    await pane.feed(data)
                capture = await pane.capture_pane()
            except StateConflict as error:
                raise MuxError(f"no more screens can be rendered at once: {error}") from error
        rows = capture.rows if escapes else tuple(_ESCAPE.sub("", row).rstrip() for row in capture.rows)
        return replace(capture, rows=rows)

    async def close(self) -> None:
        await self._stack.aclose()
        self._pane = None

    async def _open_pane(self, size: tuple[int, int]) -> ReplayPane:
        self._pane = await self._stack.enter_async_context(self._server.open_pane(PaneSize(*size)))
        self._size = size
        return self._pane


def build_renderer_factory(paths: Paths, get_settings: Callable[[], Settings]) -> BuildRenderer:
    """Return a function that builds renderers; they share one private server, which starts with the first screen."""

    @cache
    def get_server() -> ReplayServer:
        return ReplayServer(get_settings().tmux_program, paths.pty_render_socket)

    return lambda: TerminalRenderer(get_server())
