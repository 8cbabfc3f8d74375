"""The three routes for permission requests: an agent's hook, its server, and the dialog on its screen.

Invariants: a hook prints only an explicit allow or deny. Any other result is raised, so that it prints nothing and the
agent shows its own dialog. A server answer names the exact request. Keys are pressed only while exactly the
dialog of the request is shown.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.agent_commands import AgentCommander
from termvisor.actions.gate import Gate
from termvisor.actions.input_line import strip_decoration
from termvisor.actions.pane_agent import get_agent_interaction
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.preconditions import build_stale_error
from termvisor.agents.adapters.keyboard import Decision
from termvisor.agents.adapters.server_contract import PermissionRequest, SessionControl
from termvisor.errors import Refused, TimedOut, Unavailable
from termvisor.model.action.action import Actor, AnswerAgent, AnswerDialog
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.ids import PaneId

RequestEnd = Literal["answered", "elsewhere", "lost"]
"""How a request ended: decided here, answered at the pane or by another client, or connection lost."""
# Denials for reasons unrelated to the request: a rate limit, or an unreadable policy file.
_NON_DECISION_PREFIXES = ("rate ", "default no_policy")
# Seconds to wait for the server to confirm an answer.
_CONFIRM_TIMEOUT_S = 5.0


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
        self._is_answered = False
        self.action = AnswerAgent(
            agent=agent,
            tool=request.tool,
            command=request.command,
            given=request.given,
            cwd=request.cwd,
            session=session_control.session,
            pane=pane,
            # The random part makes a repeated request a new action, because an approval is valid for one request only.
            request=f"{request.id}:{os.urandom(8).hex()}",
        )

    async def allow(self, _snapshot: PaneSnapshot | None) -> Outcome:
        done = Outcome(status="done", why="answered", pane=self.action.pane, channel="native")
        try:
            if not await self._answer("allow"):
                raise build_stale_error("request_gone", "the request is no longer waiting for an answer")
            async with asyncio.timeout(_CONFIRM_TIMEOUT_S):
                is_confirmed = await self._session_control.wait_until_answered(self._request)
        except (TimeoutError, TimedOut, Unavailable):
            # The answer may have arrived anyway, so it is neither retried nor reported as failed.
            is_confirmed = False
        return done if is_confirmed else replace(done, status="unknown", why="not_confirmed")

    async def deny(self, _correlation: str) -> None:
        await self._answer("deny")

    async def wait_until_answered_elsewhere(self) -> RequestEnd:
        is_connected = await self._session_control.wait_until_answered(self._request)
        if self._is_answered:
            await asyncio.Event().wait()  # our own answer: block until the broker cancels this task
        return "elsewhere" if is_connected else "lost"

    async def _answer(self, decision: Decision) -> bool:
        self._is_answered = True
        return await self._session_control.answer_request(self._request, decision)


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
            tool="dialog",
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

    async def deny(self, correlation: str) -> None:
        # Denying presses keys in a pane, so it is an action too and goes through the gate and its pane lock.
        dialog = self._dialog
        action = AnswerDialog(pane=dialog.pane, agent=dialog.agent, choice="deny", rows=dialog.rows)
        await self._gate.run(action, self._actor, Preconditions(correlation=correlation))

    async def wait_until_answered_elsewhere(self) -> RequestEnd:
        await self._wait_until_resolved()
        return "elsewhere"
