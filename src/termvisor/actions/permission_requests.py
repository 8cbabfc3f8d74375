"""Turn an agent's permission request into an approval request and return the answer to the agent.

Deduplicate → gate → approval → answer, by the route on which the request arrived:

    hook      the caller's RPC returns the answer, and the hook prints it
    server    the agent's server waits, and exactly this request is answered
    dialog    the keys of the choice are pressed while exactly this dialog is shown

Invariants: a request becomes one approval request and gets at most one answer. The first answer wins, here or at the
pane; without a clear decision nothing is answered and the agent's own dialog stays open: a hook prints only an explicit
allow or deny.
"""

import asyncio
import math
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.agent_commands import HOOK_ANSWERED, AgentCommander
from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.gate import Gate
from termvisor.actions.input_line import strip_decoration
from termvisor.actions.pane_snapshot import AllowCallback, PaneSnapshot, get_agent_interaction
from termvisor.actions.precondition_failure import build_stale_error
from termvisor.actions.unclaimed_requests import DIALOG_TOOL
from termvisor.agents.adapters.keyboard import Decision
from termvisor.agents.adapters.server_contract import PermissionRequest, SessionControl
from termvisor.errors import Refused, StateConflict, TimedOut, Unavailable, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, AnswerAgent, AnswerDialog
from termvisor.model.action.approval import ANSWERED_ELSEWHERE, ApprovalOutcome
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.ids import PaneId

# Seconds for which a dialog may remain on the screen after its hook was answered.
_DIALOG_CLOSE_S = 5.0
RequestRoute = Literal["hook", "server", "dialog"]
RequestEnd = Literal["answered", "elsewhere", "lost"]
"""How a request ended: decided here, answered at the pane or by another client, or connection lost."""
# Denials for reasons unrelated to the request: a rate limit, or an unreadable policy file.
_NON_DECISION_PREFIXES = ("rate ", "default no_policy")
# Seconds to wait for the server to confirm an answer.
_CONFIRM_TIMEOUT_S = 5.0
log = get_logger("permissions")


class PermissionBroker:
    def __init__(self, *, gate: Gate, approvals: ApprovalQueue, pending: "PendingRequests", commander: AgentCommander):
        self._gate, self._approvals, self.pending, self._commander = gate, approvals, pending, commander

    async def answer_hook(self, action: AnswerAgent, actor: Actor, preconditions: Preconditions) -> Outcome:
        """Return the decision and the hook's output. Raises ``Conflict`` if another route is forwarding the request."""
        with self.pending.track_request(action.pane, "hook"):
            outcome = await decide_request(self._gate, action, actor, preconditions)
            if outcome.why == "deny":
                await self._record_denial(outcome, Outcome(status="done", why=HOOK_ANSWERED))
            return outcome

    def has_unclaimed_from_own_channel(self, pane: PaneId) -> bool:
        """Return True if the agent's server or hook may claim an earlier request, which its dialog would replace."""
        return self._approvals.has_unclaimed_from_own_channel(pane)

    async def forward_server_request(
        self, session_control: SessionControl, *, agent: str, pane: PaneId, actor: Actor, handled_ids: set[str]
    ) -> RequestEnd:
        """Forward the session's next request that is not in ``handled_ids``, and add its id there once decided.

        Raises ``TimedOut`` if no request is waiting.
        """
        with self.pending.track_request(pane, "server"):
            async with session_control.wait_for_request(handled_ids) as request:
                end = await self._forward(ServerRequest(session_control, request, agent, pane), actor)
                if end == "answered":
                    handled_ids.add(request.id)
                return end

    async def forward_dialog(
        self, dialog: "PermissionDialog", actor: Actor, wait_until_resolved: Callable[[], Awaitable[None]]
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

    async def _forward(self, request: "ServerRequest | DialogRequest", actor: Actor) -> RequestEnd:
        """Wait for a decision here or an answer elsewhere, and cancel the other wait, withdrawing any open approval."""
        is_answering = asyncio.Event()

        async def allow(snapshot: PaneSnapshot | None) -> Outcome:
            is_answering.set()
            return await request.allow(snapshot)

        with self.pending.register_callback(request.action.request, allow):
            async with asyncio.TaskGroup() as group:
                decision = group.create_task(self._decide(request.action, actor))
                elsewhere = group.create_task(request.wait_until_answered_elsewhere())
                await asyncio.wait((decision, elsewhere), return_when=asyncio.FIRST_COMPLETED)
                # Our own answer lets the agent go on as well: the gate must still verify it and log its outcome.
                if is_answering.is_set():
                    await asyncio.wait((decision,))
                is_elsewhere = elsewhere.done() and elsewhere.result() == "elsewhere"
                decision.cancel(ANSWERED_ELSEWHERE if is_elsewhere else None)
                elsewhere.cancel()
        # If both ended at once, the decision counts, because the gate may already have sent its answer.
        if decision.cancelled():
            return elsewhere.result()
        outcome = decision.result()
        if outcome is not None and outcome.why == "deny":
            await self._deny(request, outcome)
        return "answered"

    async def _deny(self, request: "ServerRequest | DialogRequest", decided: Outcome) -> None:
        """Deliver a denial, and store its outcome with the approval request."""
        try:
            delivered = await request.deny(decided.correlation)
        except VisorError as error:
            await self._record_denial(decided, Outcome(status="failed", why=error.code, text=error.message))
            raise
        await self._record_denial(decided, delivered)

    async def _record_denial(self, decided: Outcome, delivered: Outcome) -> None:
        # A rule of the policy denies without an approval request.
        if decided.approval is not None:
            ending = ApprovalOutcome(status=delivered.status, why=delivered.why, text=delivered.text)
            await self._approvals.record_outcome(decided.approval, ending)

    async def _decide(self, action: AnswerAgent, actor: Actor) -> Outcome | None:
        """Return the outcome, or None if there is no clear decision and the agent must get no answer."""
        try:
            return await decide_request(self._gate, action, actor, Preconditions(wait_for_answer=math.inf))
        except VisorError as error:
            # A rate limit or an unreadable policy is not a denial: the user can still answer the agent's own dialog.
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
            raise StateConflict("this request is already in the inbox", hint="`visor inbox` shows it.")
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


async def decide_request(gate: Gate, action: AnswerAgent, actor: Actor, preconditions: Preconditions) -> Outcome:
    """Return an outcome whose ``why`` is `allow` or `deny` and whose ``text`` is the output for the agent's hook.

    The gate treats the agent as the caller, no matter which process forwarded the request.
    Raises ``Refused`` if there was no decision; other errors of the gate propagate.
    """
    agent = replace(actor, kind="agent", name=action.agent, pane=action.pane)
    try:
        outcome = await gate.run(action, agent, preconditions)
    except Refused as error:
        if not _is_clear_denial(error):
            raise
        return Outcome(
            status="done",
            why="deny",
            text=_format_hook_answer(action, "deny", f"Termvisor: {error.message}"),
            correlation=str(error.details.get("correlation", "")),
            pane=action.pane,
            approval=number if isinstance(number := error.details.get("question"), int) else None,
        )
    return replace(outcome, why="allow", text=_format_hook_answer(action, "allow"))


def _format_hook_answer(action: AnswerAgent, decision: Decision, message: str = "") -> str:
    """Return the hook output for this agent; empty if its hooks do not accept answers."""
    interaction = get_agent_interaction(action.agent)
    return (interaction.format_hook_answer(decision, message) if interaction is not None else None) or ""


def _is_clear_denial(error: Refused) -> bool:
    """Return True if a person or a policy rule denied this request."""
    if error.details.get("why") == "denied":
        return True
    details = error.details.get("reasons")
    reasons = details if isinstance(details, Sequence) and not isinstance(details, str) else ()
    return any(
        str(reason).endswith(": deny") and not str(reason).startswith(_NON_DECISION_PREFIXES) for reason in reasons
    )


class ServerRequest:
    def __init__(self, session_control: SessionControl, request: PermissionRequest, agent: str, pane: PaneId):
        self._session_control, self._request = session_control, request
        self.action = AnswerAgent(
            agent=agent,
            tool=request.tool,
            command=request.command,
            given=request.given,
            cwd=request.cwd,
            session=request.session or session_control.session,
            pane=pane,
            # The random part makes a repeated request a new action, because an approval is valid for one request only.
            request=f"{request.id}:{os.urandom(8).hex()}",
        )

    async def allow(self, _snapshot: PaneSnapshot | None) -> Outcome:
        done = Outcome(status="done", why="answered", pane=self.action.pane, channel="native")
        try:
            if not await self._session_control.answer_request(self._request, "allow"):
                raise build_stale_error("request_gone", "the request is no longer waiting for an answer")
            async with asyncio.timeout(_CONFIRM_TIMEOUT_S):
                is_confirmed = await self._session_control.wait_until_answered(self._request)
        except (TimeoutError, TimedOut, Unavailable):
            # The answer may have arrived anyway, so it is neither retried nor reported as failed.
            is_confirmed = False
        return done if is_confirmed else replace(done, status="unknown", why="not_confirmed")

    async def deny(self, _correlation: str) -> Outcome:
        is_sent = await self._session_control.answer_request(self._request, "deny")
        done = Outcome(status="done", why="answered", pane=self.action.pane, channel="native")
        return done if is_sent else replace(done, status="unknown", why="request_gone")

    async def wait_until_answered_elsewhere(self) -> RequestEnd:
        is_connected = await self._session_control.wait_until_answered(self._request)
        return "elsewhere" if is_connected else "lost"


class PermissionDialog(Struct, frozen=True, kw_only=True):
    """The rows of a dialog that can be both allowed and denied with keys."""

    pane: PaneId
    agent: str
    rows: tuple[str, ...]
    command: str = ""
    """The command that the agent reported. Used only if the dialog shows it too."""
    session: str = ""
    cwd: str = ""

    def build_action(self) -> AnswerAgent:
        text = "\n".join(row.strip(" │┃") for row in self.rows)
        return AnswerAgent(
            agent=self.agent,
            tool=DIALOG_TOOL,
            command=self.command if strip_decoration(self.command) in strip_decoration("".join(self.rows)) else "",
            given=msgspec.json.encode({"dialog": text}).decode(),
            cwd=self.cwd,
            session=self.session,
            pane=self.pane,
            request=os.urandom(8).hex(),
        )


def find_dialog(snapshot: PaneSnapshot, agent_process: AgentProcess, command: str) -> PermissionDialog | None:
    """Return the dialog that the agent shows; None unless keys are certain to allow and to deny it."""
    interaction, agent = snapshot.interaction, snapshot.agent
    if interaction is None or agent is None or agent.runtime != agent_process.id:
        return None
    allow = interaction.find_choice_keys(snapshot.screen, "allow")
    deny = interaction.find_choice_keys(snapshot.screen, "deny")
    if allow is None or deny is None or allow.rows != deny.rows or not allow.rows:
        return None
    return PermissionDialog(
        pane=agent_process.pane,
        agent=agent_process.agent,
        rows=allow.rows,
        command=command,
        session=agent.session,
        cwd=agent_process.cwd,
    )


class DialogRequest:
    """A shown dialog; ``wait_until_resolved`` returns when the agent no longer waits for an answer."""

    def __init__(
        self,
        dialog: PermissionDialog,
        *,
        commander: AgentCommander,
        gate: Gate,
        actor: Actor,
        wait_until_resolved: Callable[[], Awaitable[None]],
    ):
        self.action, self._dialog = dialog.build_action(), dialog
        self._commander, self._gate, self._actor = commander, gate, actor
        self._wait_until_resolved = wait_until_resolved

    async def allow(self, snapshot: PaneSnapshot | None) -> Outcome:
        if snapshot is None:
            raise build_stale_error("pane_gone", f"pane {self._dialog.pane} no longer exists")
        return await self._commander.build_keyboard(snapshot).pick_choice("allow", self._dialog.rows)

    async def deny(self, correlation: str) -> Outcome:
        # Denying presses keys in a pane, so it is an action too and goes through the gate and its pane lock.
        dialog = self._dialog
        action = AnswerDialog(pane=dialog.pane, agent=dialog.agent, choice="deny", rows=dialog.rows)
        return await self._gate.run(action, self._actor, Preconditions(correlation=correlation))

    async def wait_until_answered_elsewhere(self) -> RequestEnd:
        await self._wait_until_resolved()
        return "elsewhere"
