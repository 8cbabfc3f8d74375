"""Forward permission requests: deduplicate → gate → approval → answer.

    hook      the caller's RPC returns the answer, and the hook prints it
    server    the agent's server is held open, and exactly this request is answered
    dialog    the keys of the choice are pressed while exactly this dialog is shown

Invariant: a request becomes one approval request and gets at most one answer. The first answer wins, here or at the
pane; without a clear decision nothing is answered and the agent's own dialog stays open.
"""

import asyncio
from collections.abc import Awaitable, Callable

from termvisor.actions.agent_commands import AgentCommander
from termvisor.actions.permission_requests.dialog import DialogRequest, PermissionDialog
from termvisor.actions.permission_requests.hook import GateRunner, decide_request
from termvisor.actions.permission_requests.request import PendingRequests, ReceivedRequest, RequestEnd
from termvisor.actions.permission_requests.server import ServerRequest
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId

MAX_ANSWER_WAIT_S = 3600.0
"""Seconds to wait for an approval at most; the policy may set less. The agent's dialog stays open meanwhile."""
log = get_logger("permissions")


class PermissionBroker:
    def __init__(self, *, gate: GateRunner, pending: PendingRequests, commander: AgentCommander):
        self._gate, self.pending, self._commander = gate, pending, commander

    async def answer_hook(self, action: AnswerAgent, actor: Actor, preconditions: Preconditions) -> Outcome:
        """Return the decision and the text for the hook. Raises ``Conflict`` if another route forwards the request."""
        with self.pending.track_request(action.pane, "hook"):
            return await decide_request(self._gate, action, actor, preconditions)

    async def forward_server_request(
        self, session_control: SessionControl, *, agent: str, pane: PaneId, actor: Actor, handled_ids: set[str]
    ) -> RequestEnd:
        """Forward the session's next request that is not in ``handled_ids``, and add it there once it was decided.

        Raises ``TimedOut`` if no request is waiting.
        """
        with self.pending.track_request(pane, "server"):
            async with session_control.wait_for_request(handled_ids) as request:
                end = await self._forward(ServerRequest(session_control, request, agent, pane), actor)
                if end == "answered":
                    handled_ids.add(request.id)
                return end

    async def forward_dialog(
        self, dialog: PermissionDialog, actor: Actor, wait_until_resolved: Callable[[], Awaitable[None]]
    ) -> RequestEnd:
        """Forward the request that a dialog shows, until it is decided or the agent no longer waits."""
        with self.pending.track_request(dialog.pane, "dialog"):
            request = DialogRequest(
                dialog,
                commander=self._commander,
                gate=self._gate,
                actor=actor,
                wait_until_resolved=wait_until_resolved,
            )
            return await self._forward(request, actor)

    async def _forward(self, request: ReceivedRequest, actor: Actor) -> RequestEnd:
        """Wait for a decision here or an answer elsewhere, and cancel the other wait; that withdraws the approval."""
        with self.pending.register_callback(request.action.request, request.allow):
            async with asyncio.TaskGroup() as group:
                decision = group.create_task(self._decide(request.action, actor))
                elsewhere = group.create_task(request.wait_until_answered_elsewhere())
                await asyncio.wait((decision, elsewhere), return_when=asyncio.FIRST_COMPLETED)
                decision.cancel()
                elsewhere.cancel()
        if decision.cancelled():
            return elsewhere.result()
        outcome = decision.result()
        if outcome is not None and outcome.why == "deny":
            await request.deny(outcome.correlation)
        return "answered"

    async def _decide(self, action: AnswerAgent, actor: Actor) -> Outcome | None:
        """Return None if there is no clear decision; then the agent gets no answer."""
        try:
            return await decide_request(self._gate, action, actor, Preconditions(wait_for_answer=MAX_ANSWER_WAIT_S))
        except VisorError as error:
            log.info("no answer to the permission request of %s: %s", action.agent, error.message)
            return None
