"""User variables that a terminal's hook reports, because it heard them where we do not read the stream."""

from termvisor.daemon.parts import Parts
from termvisor.errors import BadRequest
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.stream import user_vars
from termvisor.stream.user_vars import Pace


class Reports:
    """Kept at the same pace as those of the stream; a pane that reports more has its surplus counted."""

    def __init__(self, parts: Parts):
        self._parts = parts
        self._paces: dict[PaneId, Pace] = {}

    async def take(self, pane: PaneId, name: str, value: str) -> Event | None:
        """The stored event; None when this pane reports too much."""
        variable = user_vars.read(name, user_vars.plain(value), self._parts.pipeline.nonce)
        if variable is None:
            raise BadRequest(
                f"{name[:80]!r} is no user variable of ours, or its value no JSON of at most 4 KB",
                hint="Names begin with visor-; the value is JSON, or JSON in base64.",
            )
        at = self._parts.clock.now()
        pace = self._paces.get(pane, Pace())
        self._paces[pane], is_kept = user_vars.admit(pace, at)
        if not is_kept:
            return None
        event = user_vars.event(pane, at, variable, pace.dropped, "call")
        detection = user_vars.detection(pane, at, variable)
        if detection is None:
            return await self._parts.chronicle.record(event)
        stored = await self._parts.store.detections.report(detection, event)
        self._parts.chronicle.news.publish(stored)
        return stored
