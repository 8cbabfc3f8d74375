"""User variables that a terminal's hook reports, because it heard them where we do not read the stream."""

from termvisor.daemon.components import Components
from termvisor.errors import BadRequest
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.terminal import user_variables
from termvisor.terminal.user_variables import VariableRate


class UserVariableReports:
    """Kept at the same pace as those of the stream; a pane that reports more has its surplus counted."""

    def __init__(self, components: Components):
        self._components = components
        self._rate_by_pane: dict[PaneId, VariableRate] = {}

    async def store_report(self, pane: PaneId, name: str, value: str) -> Event | None:
        """The stored event; None when this pane reports too much."""
        text = user_variables.decode_value(value)
        variable = user_variables.parse_variable(name, text, self._components.pipeline.nonce)
        if variable is None:
            raise _build_error(name, text)
        at = self._components.clock.now()
        pace = self._rate_by_pane.get(pane, VariableRate())
        self._rate_by_pane[pane], is_kept = user_variables.admit_variable(pace, at)
        if not is_kept:
            return None
        event = user_variables.build_event(pane, at, variable, pace.dropped, "call")
        detection = user_variables.build_detection(pane, at, variable)
        if detection is None:
            return await self._components.event_log.append(event)
        stored = await self._components.store.detections.add_with_event(detection, event)
        self._components.event_log.events.publish(stored)
        return stored


def _build_error(name: str, text: str) -> BadRequest:
    if not user_variables.is_variable_name(name):
        hint = "They begin with visor- and go on with letters, digits, - _ or dots: visor-deploy."
        return BadRequest(f"{name[:80]!r} is no name of a user variable of ours", hint=hint)
    if len(text) > user_variables.MAX_VALUE_LENGTH:
        return BadRequest(f"the value has {len(text)} characters; at most {user_variables.MAX_VALUE_LENGTH} are kept")
    return BadRequest("the value is not JSON", hint="""For example --value '{"step":3}', or the same in base64.""")
