"""Raise and clear the alerts about the panes of one server that are not captured.

Invariant: a pane that was captured and no longer is, is named in an alert until it is captured again or closed.
"""

from collections.abc import Iterable, Sequence

from termvisor.capture.event_log import NEXT_RETRY_HINT, EventLog
from termvisor.capture.pane_capture_state import PaneCaptureState
from termvisor.capture.raw_log import DiskSpaceProbe
from termvisor.model.terminal.target import ServerKey

# Longer than it takes to capture all panes of a server again after the recorder was restarted.
_UNCAPTURED_GRACE_S = 5.0
_MAX_NAMED_PANES = 8


class CaptureAlerts:
    """The alerts of one server; the alert about disk space is shared by all servers."""

    def __init__(self, server: ServerKey, event_log: EventLog, disk_space: DiskSpaceProbe):
        self._event_log, self._disk_space = event_log, disk_space
        self._failing_key, self._uncaptured_key = f"panes:{server.label}", f"uncaptured:{server.label}"
        self._descriptors_key = f"descriptors:{server.label}"

    async def update(self, states: Iterable[PaneCaptureState], now: float) -> None:
        """Raise the alerts that apply to these panes and clear the others."""
        live = [state for state in states if not state.is_dead]
        await self._set(self._failing_key, _describe_failing([state for state in live if state.backoff.is_held_down]))
        await self._set("room", self._disk_space.problem)
        lost = [state for state in live if state.gap_cause is not None]
        starved = [state for state in lost if state.gap_cause == "descriptors_exhausted"]
        await self._set(self._descriptors_key, _describe_starved(starved))
        # The alerts above explain the others.
        explained = {"descriptors_exhausted", "disk_full" if self._disk_space.problem else ""}
        unexplained = [s for s in lost if s.gap_cause not in explained and not s.backoff.is_held_down]
        uncaptured = [state for state in unexplained if now - state.lost_at > _UNCAPTURED_GRACE_S]
        await self._set(self._uncaptured_key, _describe_uncaptured(uncaptured))

    async def clear(self) -> None:
        """Clear the alerts of this server, because it is no longer watched."""
        for key in (self._failing_key, self._uncaptured_key, self._descriptors_key):
            await self._event_log.clear_alert(key)

    async def _set(self, key: str, message: str) -> None:
        if message:
            await self._event_log.raise_alert(key, message)
        else:
            await self._event_log.clear_alert(key)


def _describe_failing(states: Sequence[PaneCaptureState]) -> str:
    return f"capturing {_name_panes(states)} keeps failing; {NEXT_RETRY_HINT}" if states else ""


def _describe_starved(states: Sequence[PaneCaptureState]) -> str:
    hint = "raise its limit on open files (`ulimit -n`), then `visor down && visor up`"
    return f"the recorder has no free file descriptor for {_name_panes(states)}: {hint}" if states else ""


def _describe_uncaptured(states: Sequence[PaneCaptureState]) -> str:
    if not states:
        return ""
    causes = ", ".join(sorted({str(state.gap_cause) for state in states}))
    verb = "is" if len(states) == 1 else "are"
    return f"{_name_panes(states)} {verb} no longer captured ({causes}); `visor gaps` shows since when"


def _name_panes(states: Sequence[PaneCaptureState]) -> str:
    names = ", ".join(str(state.pane) for state in states[:_MAX_NAMED_PANES])
    more = len(states) - _MAX_NAMED_PANES
    return f"{'pane' if len(states) == 1 else 'panes'} {names}{f' and {more} more' if more > 0 else ''}"
