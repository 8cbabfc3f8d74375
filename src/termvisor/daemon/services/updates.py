"""Serve live updates: subscriptions to events and output, and user variables reported by clients."""

from contextlib import AbstractContextManager

from termvisor.bus import Subscription
from termvisor.daemon.components import Components
from termvisor.daemon.services.shared_results import SharedResults
from termvisor.errors import BadRequest
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.terminal import user_variables
from termvisor.terminal.user_variables import VariableRate


class LiveUpdates:
    """Notifications about newly stored data. A subscriber that missed items re-reads the history from its cursor."""

    def __init__(self, components: Components):
        self._components = components
        self.shared_results = SharedResults(components.clock)
        self._rate_by_pane: dict[PaneId, VariableRate] = {}

    def subscribe_events(self) -> AbstractContextManager[Subscription[Event]]:
        return self._components.event_log.events.subscribe()

    def subscribe_output(self, queue_size: int = 1024) -> AbstractContextManager[Subscription[PaneId]]:
        """Subscribe to the ids of panes with new output."""
        return self._components.pipeline.changed_panes.subscribe(queue_size)

    async def report_user_variable(self, pane: PaneId, name: str, value: str) -> Event | None:
        """Store the variable and publish its event; return None if the pane exceeded its rate.

        Variables in the output stream have the same rate limit; rejected reports are counted in the next event.
        Raises BadRequest.
        """
        text = user_variables.decode_value(value)
        variable = user_variables.parse_variable(name, text, self._components.pipeline.nonce)
        if variable is None:
            raise _build_error(name, text)
        now = self._components.clock.now()
        # A program in a loop must not fill the event log, whether it prints variables or calls the daemon.
        rate = self._rate_by_pane.get(pane, VariableRate())
        self._rate_by_pane[pane], is_admitted = user_variables.admit_variable(rate, now)
        if not is_admitted:
            return None
        event = user_variables.build_event(pane, now, variable, rate.dropped, "call")
        # Stored in one transaction with its event, so that neither exists without the other.
        detection = user_variables.build_detection(pane, now, variable)
        if detection is None:
            return await self._components.event_log.append(event)
        stored = await self._components.store.detections.add_with_event(detection, event)
        self._components.event_log.events.publish(stored)
        return stored


def _build_error(name: str, text: str) -> BadRequest:
    if not user_variables.is_variable_name(name):
        hint = "Names start with visor-, then letters, digits, '-', '_' or '.': visor-deploy."
        return BadRequest(f"{name[:80]!r} is not a valid user variable name", hint=hint)
    if len(text) > user_variables.MAX_VALUE_LENGTH:
        return BadRequest(f"the value has {len(text)} characters; the limit is {user_variables.MAX_VALUE_LENGTH}")
    return BadRequest("the value is not JSON", hint="""Example: --value '{"step":3}', or the same in base64.""")
