"""Does what is said to an agent: by its own server where there is a line to it, else by keys that fit its screen."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from termvisor.actions.agent_keys import Hand
from termvisor.actions.agent_server import interrupted
from termvisor.actions.preconditions import TO_AGENT, Belief
from termvisor.agents.adapters.server_contract import Line
from termvisor.backends.pane_control import PaneControl
from termvisor.clock import Clock
from termvisor.errors import StaleSnapshot, VisorError
from termvisor.log import logger
from termvisor.model.action.action import AnswerAgent, AnswerDialog, Interrupt
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId, RuntimeId

Carry = Callable[[Belief | None], Awaitable[Outcome]]
"""Brings a yes to an agent that waits for it."""
log = logger("speak")


class Ways(Protocol):
    """How an agent is reached."""

    def control(self, pane: PaneId) -> PaneControl: ...

    def line(self, pane: PaneId) -> Line | None: ...

    def carrier(self, request: str) -> Carry | None:
        """How a yes to this request gets to its agent; None where whoever asked carries it."""

    def has_left(self, runtime: RuntimeId) -> bool:
        """Whether this agent lives no more."""


class Speaker:
    def __init__(self, ways: Ways, clock: Clock):
        self._ways, self._clock = ways, clock

    async def say(self, action: TO_AGENT, belief: Belief) -> Outcome:
        if isinstance(action, Interrupt) and (outcome := await self._natively(action)) is not None:
            return outcome
        hand, tenant = self.hand(belief), belief.tenant
        if isinstance(action, AnswerDialog):
            return await hand.pick(action.choice, action.rows)
        if isinstance(action, Interrupt):
            return await hand.interrupt()
        return await hand.leave(lambda: tenant is None or self._ways.has_left(tenant.runtime))

    async def allow(self, action: AnswerAgent, belief: Belief | None) -> Outcome:
        carry = self._ways.carrier(action.request)
        return Outcome(status="done", pane=action.pane) if carry is None else await carry(belief)

    def hand(self, belief: Belief) -> Hand:
        voice = belief.voice
        if voice is None:
            raise StaleSnapshot("nothing was done: no agent is known to be there", details={"why": "no_agent"})
        return Hand(self._ways.control(belief.view.id), belief, voice, self._clock)

    async def _natively(self, action: Interrupt) -> Outcome | None:
        """None where that is no way: then nothing was done."""
        line = self._ways.line(action.pane)
        try:
            return None if line is None else await interrupted(line, action.pane)
        except VisorError as error:
            log.info("the server of %s did not take it: %s", action.agent, error.message)
            return None
