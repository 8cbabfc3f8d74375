"""Define a received permission request and track the pending ones, so that each is forwarded by one route only."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

from termvisor.actions.agent_commands import AllowCallback
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.errors import Conflict
from termvisor.model.action.action import AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId

_DIALOG_CLOSE_S = 5.0
"""Seconds that a dialog may still be on the screen after its hook was answered."""
RequestRoute = Literal["hook", "server", "dialog"]
RequestEnd = Literal["answered", "elsewhere", "lost"]
"""Decided here; answered at the pane or by another client; or the connection was lost."""


class ReceivedRequest(Protocol):
    """A permission request received from a server or a dialog, and the way its answer goes back."""

    action: AnswerAgent

    async def allow(self, snapshot: PaneSnapshot | None) -> Outcome:
        """Answer yes and verify it. Called by the gate when it executes ``action``."""

    async def deny(self, correlation: str) -> None: ...

    async def wait_until_answered_elsewhere(self) -> RequestEnd:
        """Return when the request was answered by another client or was lost; never for our own answer."""


class PendingRequests:
    """The permission requests that are being forwarded, by pane and route.

    The same request can arrive by its hook, its server and its dialog: the first route that forwards it blocks the
    others. ``monotonic`` is the clock that measures how long ago a hook was answered.
    """

    def __init__(self, monotonic: Callable[[], float] | None = None) -> None:
        self._monotonic = monotonic
        self._hook_ended_at: dict[PaneId, float] = {}
        self._allow_callbacks: dict[str, AllowCallback] = {}
        self._active_counts: Counter[tuple[PaneId, RequestRoute]] = Counter()

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        return self._allow_callbacks.get(request)

    def is_pending(self, pane: PaneId, route: RequestRoute) -> bool:
        """Return True if another route forwards the pane's request, or its hook was answered a moment ago."""
        if route == "dialog" and self._monotonic is not None and pane in self._hook_ended_at:
            if self._monotonic() - self._hook_ended_at[pane] < _DIALOG_CLOSE_S:
                return True
            del self._hook_ended_at[pane]
        return any(
            count and active_pane == pane and active_route != route
            for (active_pane, active_route), count in self._active_counts.items()
        )

    @contextmanager
    def track_request(self, pane: PaneId | None, route: RequestRoute) -> Iterator[None]:
        """Mark the pane's request as forwarded by this route. Raises ``Conflict`` if another route forwards it."""
        if pane is None:
            yield
            return
        if self.is_pending(pane, route):
            raise Conflict("this request is already in the inbox", hint="`visor inbox` shows it.")
        self._active_counts[pane, route] += 1
        try:
            yield
        finally:
            self._active_counts[pane, route] -= 1
            if route == "hook" and self._monotonic is not None:
                self._hook_ended_at[pane] = self._monotonic()

    @contextmanager
    def register_callback(self, request: str, callback: AllowCallback) -> Iterator[None]:
        self._allow_callbacks[request] = callback
        try:
            yield
        finally:
            del self._allow_callbacks[request]
