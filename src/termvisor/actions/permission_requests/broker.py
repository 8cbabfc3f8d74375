"""Forward permission requests: deduplicate → gate → approval → answer.

    hook      the caller's RPC returns the answer, and the hook prints it
    server    the agent's server waits, and exactly this request is answered
    dialog    the keys of the choice are pressed while exactly this dialog is shown

Invariant: a request becomes one approval request and gets at most one answer. The first answer wins, here or at the
pane; without a clear decision nothing is answered and the agent's own dialog stays open.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from termvisor.actions.agent_commands import AgentCommander
from termvisor.actions.gate import Gate
from termvisor.actions.pane_snapshot import AllowCallback
from termvisor.actions.permission_requests import routes
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.errors import Conflict, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId

# Maximum seconds to wait for an approval; the policy may set fewer. The agent's dialog stays open meanwhile.
MAX_ANSWER_WAIT_S = 3600.0
# Seconds for which a dialog may remain on the screen after its hook was answered.
_DIALOG_CLOSE_S = 5.0
RequestRoute = Literal["hook", "server", "dialog"]
log = get_logger("permissions")


class PermissionBroker:
    def __init__(self, *, gate: Gate, pending: "PendingRequests", commander: AgentCommander):
        self._gate, self.pending, self._commander = gate, pending, commander

    async def answer_hook(self, action: AnswerAgent, actor: Actor, preconditions: Preconditions) -> Outcome:
        """Return the decision and the hook's output. Raises ``Conflict`` if another route is forwarding the request."""
        with self.pending.track_request(action.pane, "hook"):
            return await routes.decide_request(self._gate, action, actor, preconditions)

    async def forward_server_request(
        self, session_control: SessionControl, *, agent: str, pane: PaneId, actor: Actor, handled_ids: set[str]
    ) -> routes.RequestEnd:
        """Forward the session's next request that is not in ``handled_ids``, and add its id there once decided.

        Raises ``TimedOut`` if no request is waiting.
        """
        with self.pending.track_request(pane, "server"):
            async with session_control.wait_for_request(handled_ids) as request:
                end = await self._forward(routes.ServerRequest(session_control, request, agent, pane), actor)
                if end == "answered":
                    handled_ids.add(request.id)
                return end

    async def forward_dialog(
        self, dialog: routes.PermissionDialog, actor: Actor, wait_until_resolved: Callable[[], Awaitable[None]]
    ) -> routes.RequestEnd:
        """Forward the request that a dialog shows, until it is decided or the agent no longer waits."""
        with self.pending.track_request(dialog.pane, "dialog"):
            request = routes.DialogRequest(
                dialog,
                commander=self._commander,
                gate=self._gate,
                actor=actor,
                wait_until_resolved=wait_until_resolved,
            )
            return await self._forward(request, actor)

    async def _forward(self, request: routes.ServerRequest | routes.DialogRequest, actor: Actor) -> routes.RequestEnd:
        """Wait for a decision here or an answer elsewhere, and cancel the other wait, withdrawing any open approval."""
        with self.pending.register_callback(request.action.request, request.allow):
            async with asyncio.TaskGroup() as group:
                decision = group.create_task(self._decide(request.action, actor))
                elsewhere = group.create_task(request.wait_until_answered_elsewhere())
                await asyncio.wait((decision, elsewhere), return_when=asyncio.FIRST_COMPLETED)
                decision.cancel()
                elsewhere.cancel()
        # If both ended at once, the decision counts, because the gate may already have sent its answer.
        if decision.cancelled():
            return elsewhere.result()
        outcome = decision.result()
        if outcome is not None and outcome.why == "deny":
            await request.deny(outcome.correlation)
        return "answered"

    async def _decide(self, action: AnswerAgent, actor: Actor) -> Outcome | None:
        """Return the outcome, or None if there is no clear decision and the agent must get no answer."""
        try:
            return await routes.decide_request(
                self._gate, action, actor, Preconditions(wait_for_answer=MAX_ANSWER_WAIT_S)
            )
        except VisorError as error:
            # An expired or withdrawn approval is not a denial: the user can still answer the agent's own dialog.
            log.info("no answer to the permission request of %s: %s", action.agent, error.message)
            return None


class PendingRequests:
    """The permission requests currently being forwarded, by pane and route.

    The same request can arrive through a hook, a server and a dialog. The first route that forwards it blocks the
    others. ``monotonic`` returns the time used to measure how long ago a hook was answered.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._hook_ended_at: dict[PaneId, float] = {}
        self._allow_callbacks: dict[str, AllowCallback] = {}
        # Counted, because several hooks in one pane may wait for answers at once.
        self._active_counts: Counter[tuple[PaneId, RequestRoute]] = Counter()

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        return self._allow_callbacks.get(request)

    def is_pending(self, pane: PaneId, route: RequestRoute) -> bool:
        """Return True if another route is forwarding the pane's request, or its hook was answered a moment ago."""
        hook_ended_at = self._hook_ended_at.get(pane, -_DIALOG_CLOSE_S)
        if route == "dialog" and self._monotonic() - hook_ended_at < _DIALOG_CLOSE_S:
            return True
        return any(
            count and active_pane == pane and active_route != route
            for (active_pane, active_route), count in self._active_counts.items()
        )

    @contextmanager
    def track_request(self, pane: PaneId | None, route: RequestRoute) -> Iterator[None]:
        """Mark the pane's request as forwarded by this route. Raises ``Conflict`` if another route is forwarding it."""
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
            if route == "hook":
                self._hook_ended_at[pane] = self._monotonic()

    @contextmanager
    def register_callback(self, request: str, callback: AllowCallback) -> Iterator[None]:
        self._allow_callbacks[request] = callback
        try:
            yield
        finally:
            del self._allow_callbacks[request]
