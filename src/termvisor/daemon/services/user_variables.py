"""User variables that a terminal's hook reports, because it heard them where we do not read the stream."""

from termvisor.daemon.components import Parts
from termvisor.errors import BadRequest
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.terminal import user_variables as user_vars
from termvisor.terminal.user_variables import Pace


class Reports:
    """Kept at the same pace as those of the stream; a pane that reports more has its surplus counted."""

    def __init__(self, parts: Parts):
        self._parts = parts
        self._paces: dict[PaneId, Pace] = {}

    async def take(self, pane: PaneId, name: str, value: str) -> Event | None:
        """The stored event; None when this pane reports too much."""
        text = user_vars.plain(value)
        variable = user_vars.read(name, text, self._parts.pipeline.nonce)
        if variable is None:
            raise _refused(name, text)
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


def _refused(name: str, text: str) -> BadRequest:
    if not user_vars.is_name(name):
        hint = "They begin with visor- and go on with letters, digits, - _ or dots: visor-deploy."
        return BadRequest(f"{name[:80]!r} is no name of a user variable of ours", hint=hint)
    if len(text) > user_vars.VALUE_LIMIT:
        return BadRequest(f"the value has {len(text)} characters; at most {user_vars.VALUE_LIMIT} are kept")
    return BadRequest("the value is not JSON", hint="""For example --value '{"step":3}', or the same in base64.""")
