"""Execute actions on an agent: by its server if it is connected, else by keys that its screen calls for."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from termvisor.actions.agent_keys import AgentKeyboard
from termvisor.actions.agent_server import send_interrupt
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.preconditions import AgentAction, build_stale_error
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.backends.pane_control import PaneControl
from termvisor.clock import Clock
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import AnswerAgent, AnswerDialog, Interrupt
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId, RuntimeId

AllowCallback = Callable[[PaneSnapshot | None], Awaitable[Outcome]]
"""Sends an approval to the agent that waits for it."""
log = get_logger("agent_commands")


class AgentRoutes(Protocol):
    """The connections to an agent."""

    def get_control(self, pane: PaneId) -> PaneControl: ...

    def get_session_control(self, pane: PaneId) -> SessionControl | None: ...

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        """Return how to send an approval for this request to its agent; None if the caller does it (a hook)."""

    def has_exited(self, runtime: RuntimeId) -> bool: ...


class AgentCommander:
    def __init__(self, routes: AgentRoutes, clock: Clock):
        self._routes, self._clock = routes, clock

    async def execute(self, action: AgentAction, snapshot: PaneSnapshot) -> Outcome:
        if isinstance(action, Interrupt) and (outcome := await self._interrupt_natively(action)) is not None:
            return outcome
        keyboard, agent = self.build_keyboard(snapshot), snapshot.agent
        if isinstance(action, AnswerDialog):
            return await keyboard.pick_choice(action.choice, action.rows)
        if isinstance(action, Interrupt):
            return await keyboard.interrupt()
        return await keyboard.quit_agent(lambda: agent is None or self._routes.has_exited(agent.runtime))

    async def deliver_approval(self, action: AnswerAgent, snapshot: PaneSnapshot | None) -> Outcome:
        callback = self._routes.find_allow_callback(action.request)
        return Outcome(status="done", pane=action.pane) if callback is None else await callback(snapshot)

    def build_keyboard(self, snapshot: PaneSnapshot) -> AgentKeyboard:
        interaction = snapshot.interaction
        if interaction is None:
            raise build_stale_error("no_agent", "no agent is known to run in the pane")
        return AgentKeyboard(self._routes.get_control(snapshot.view.id), snapshot, interaction, self._clock)

    async def _interrupt_natively(self, action: Interrupt) -> Outcome | None:
        """Interrupt by the agent's server; return None if it did not accept that, so keys can be tried."""
        session_control = self._routes.get_session_control(action.pane)
        try:
            return None if session_control is None else await send_interrupt(session_control, action.pane)
        except VisorError as error:
            log.info("the server of %s rejected the interrupt: %s", action.agent, error.message)
            return None
