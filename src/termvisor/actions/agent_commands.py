"""Does what is said to an agent: by its own server where there is a line to it, else by keys that fit its screen."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from termvisor.actions.agent_keys import AgentKeyboard
from termvisor.actions.agent_server import send_interrupt
from termvisor.actions.preconditions import AgentAction, PaneSnapshot
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.backends.pane_control import PaneControl
from termvisor.clock import Clock
from termvisor.errors import StaleSnapshot, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import AnswerAgent, AnswerDialog, Interrupt
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId, RuntimeId

AllowCallback = Callable[[PaneSnapshot | None], Awaitable[Outcome]]
"""Brings a yes to an agent that waits for it."""
log = get_logger("speak")


class AgentRoutes(Protocol):
    """How an agent is reached."""

    def get_control(self, pane: PaneId) -> PaneControl: ...

    def get_session_control(self, pane: PaneId) -> SessionControl | None: ...

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        """How a yes to this request gets to its agent; None where whoever asked carries it."""

    def has_exited(self, runtime: RuntimeId) -> bool:
        """Whether this agent lives no more."""


class AgentCommander:
    def __init__(self, routes: AgentRoutes, clock: Clock):
        self._routes, self._clock = routes, clock

    async def execute(self, action: AgentAction, snapshot: PaneSnapshot) -> Outcome:
        if isinstance(action, Interrupt) and (outcome := await self._interrupt_natively(action)) is not None:
            return outcome
        hand, tenant = self.build_keyboard(snapshot), snapshot.agent
        if isinstance(action, AnswerDialog):
            return await hand.pick_choice(action.choice, action.rows)
        if isinstance(action, Interrupt):
            return await hand.interrupt()
        return await hand.quit_agent(lambda: tenant is None or self._routes.has_exited(tenant.runtime))

    async def deliver_approval(self, action: AnswerAgent, snapshot: PaneSnapshot | None) -> Outcome:
        carry = self._routes.find_allow_callback(action.request)
        return Outcome(status="done", pane=action.pane) if carry is None else await carry(snapshot)

    def build_keyboard(self, snapshot: PaneSnapshot) -> AgentKeyboard:
        voice = snapshot.interaction
        if voice is None:
            raise StaleSnapshot("nothing was done: no agent is known to be there", details={"why": "no_agent"})
        return AgentKeyboard(self._routes.get_control(snapshot.view.id), snapshot, voice, self._clock)

    async def _interrupt_natively(self, action: Interrupt) -> Outcome | None:
        """None where that is no way: then nothing was done."""
        line = self._routes.get_session_control(action.pane)
        try:
            return None if line is None else await send_interrupt(line, action.pane)
        except VisorError as error:
            log.info("the server of %s did not take it: %s", action.agent, error.message)
            return None
