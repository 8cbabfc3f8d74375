"""The contract of a renderer: the screen of a terminal whose backend has its bytes, but no emulator for them."""

from collections.abc import Callable
from typing import Protocol

from termvisor.backends.pane_source import PaneCapture


class ScreenRenderer(Protocol):
    """Renders one terminal."""

    async def render(self, data: bytes, size: tuple[int, int], *, escapes: bool) -> PaneCapture:
        """Return the screen of this many columns and rows after these further bytes. Raises MuxError."""

    async def close(self) -> None:
        """Release what was started for it."""


BuildRenderer = Callable[[], ScreenRenderer | None]
"""Builds a renderer for one terminal; None if there is none."""
