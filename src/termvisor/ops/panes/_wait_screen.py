"""Waiting for text on a screen: a program on the alternate screen prints no lines, what it shows is what counts."""

from collections.abc import Callable
from contextlib import suppress

from termvisor.errors import MuxError, NotFound
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services

_MIN_CAPTURE_INTERVAL_S = 0.25
"""Seconds between two looks at a screen that goes on changing, at least."""


class ScreenTextMatcher:
    def __init__(self, services: Services, is_match: Callable[[str], bool]):
        self._services, self._is_match = services, is_match
        self._next_capture_at = 0.0
        self._is_early = False

    async def find_row(self, pane: PaneView) -> str | None:
        """The first row that fits, where the pane repaints and it is time for a look."""
        if pane.activity.kind != "alt_screen" or pane.gone_at is not None:
            self._is_early = False
            return None
        now = self._services.clock.monotonic()
        self._is_early = now < self._next_capture_at
        if self._is_early:
            return None
        self._next_capture_at = now + _MIN_CAPTURE_INTERVAL_S
        with suppress(MuxError, NotFound):  # it ends just now, and that will be told
            screen = await self._services.panes.capture_screen(pane.id)
            return next(filter(self._is_match, screen.rows), None)
        return None

    def get_retry_delay(self) -> float:
        """Seconds until a look that came too early may be taken."""
        return max(0.0, self._next_capture_at - self._services.clock.monotonic()) if self._is_early else 3600.0
