"""An agent waits for a permission: its request becomes a question, and the answer goes back the way it came.

    by its server    it is heard there while it waits, and the very request is answered
    by its dialog    the keys of the choice are pressed while exactly this dialog is shown

Invariant: a request is one question and gets at most one answer. Whoever answers first, here or at the pane, ends it.
On any doubt nothing is said, and the agent's own dialog stands.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from termvisor.actions.agent_commands import AgentCommander, AllowCallback
from termvisor.actions.hook_answer import GateRunner, answer_hook_request
from termvisor.actions.input_line import strip_decoration
from termvisor.actions.preconditions import PaneSnapshot
from termvisor.agents.adapters.dialog_options import Decision
from termvisor.agents.adapters.server_contract import PermissionRequest, SessionControl
from termvisor.errors import Conflict, StaleSnapshot, TimedOut, Unavailable, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, AnswerAgent, AnswerDialog
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId

MAX_ANSWER_WAIT_S = 3600.0
"""Seconds that a person has at most; the policy may give less. The agent's dialog is open all the time."""
_CONFIRM_TIMEOUT_S = 5.0
_DIALOG_CLOSE_S = 5.0
"""Seconds that a dialog may still be shown after its hook was answered."""
RequestRoute = Literal["hook", "server", "dialog"]
RequestEnd = Literal["answered", "elsewhere", "lost"]
T = TypeVar("T")
PlainCoroutine = Coroutine[Any, Any, T]
log = get_logger("pleas")


class PendingPermissionRequests:
    """Requests that are on their way, and by which. ``monotonic`` tells how long ago one ended."""

    def __init__(self, monotonic: Callable[[], float] | None = None) -> None:
        self._monotonic = monotonic
        self._hook_ended_at: dict[PaneId, float] = {}
        self._allow_callbacks: dict[str, AllowCallback] = {}
        self._active_counts: Counter[tuple[PaneId, RequestRoute]] = Counter()

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        return self._allow_callbacks.get(request)

    def is_pending(self, pane: PaneId, route: RequestRoute) -> bool:
        """Whether what is asked in that pane is on its way already, by another way, or just was by a hook."""
        if route == "dialog" and self._monotonic is not None and pane in self._hook_ended_at:
            if self._monotonic() - self._hook_ended_at[pane] < _DIALOG_CLOSE_S:
                return True
            del self._hook_ended_at[pane]
        return any(count and held == pane and by != route for (held, by), count in self._active_counts.items())

    @contextmanager
    def track_request(self, pane: PaneId | None, route: RequestRoute) -> Iterator[None]:
        """Raises ``Conflict`` where it is on its way already."""
        if pane is None:
            yield
            return
        if self.is_pending(pane, route):
            raise Conflict("this request is in the inbox already", hint="`visor inbox` shows it.")
        self._active_counts[pane, route] += 1
        try:
            yield
        finally:
            self._active_counts[pane, route] -= 1
            if route == "hook" and self._monotonic is not None:
                self._hook_ended_at[pane] = self._monotonic()

    @contextmanager
    def register_callback(self, request: str, callback: AllowCallback) -> Iterator[None]:
        self._allow_callbacks[request] = callback
        try:
            yield
        finally:
            del self._allow_callbacks[request]


class PermissionDependencies(Struct):
    """``actor`` is the daemon: what is asked is the agent's wish all the same."""

    gate: GateRunner
    pending: PendingPermissionRequests
    actor: Actor


class ServerPermissionRequest:
    """One request out of a conversation that is heard."""

    def __init__(self, session_control: SessionControl, request: PermissionRequest, action: AnswerAgent):
        self._session_control, self._request, self.action = session_control, request, action
        self._is_answered = False

    async def allow(self, _snapshot: PaneSnapshot | None) -> Outcome:
        """Part of the gate's deed: its outcome is what is proven."""
        done = Outcome(status="done", why="answered", pane=self.action.pane, channel="native")
        try:
            if not await self._answer("allow"):
                raise StaleSnapshot("nothing was done: the request waits no longer", details={"why": "request_gone"})
            async with asyncio.timeout(_CONFIRM_TIMEOUT_S):
                is_heard = await self._session_control.wait_until_answered(self._request)
        except (TimeoutError, TimedOut, Unavailable):
            is_heard = False
        return done if is_heard else replace(done, status="unknown", why="not_confirmed")

    async def deny(self) -> None:
        await self._answer("deny")

    async def wait_until_answered_elsewhere(self) -> RequestEnd:
        """Returns when somebody else answered, or nothing is heard any more; never for our own answer."""
        is_heard = await self._session_control.wait_until_answered(self._request)
        if self._is_answered:
            await asyncio.Event().wait()
        return "elsewhere" if is_heard else "lost"

    async def _answer(self, decision: Decision) -> bool:
        self._is_answered = True
        return await self._session_control.answer_request(self._request, decision)


class WaitingAgent(Struct):
    """An agent that waits, and what of it was dealt with before."""

    agent: str
    pane: PaneId
    handled_ids: set[str] = field(default_factory=set)


async def forward_server_request(
    dependencies: PermissionDependencies, session_control: SessionControl, waiting_agent: WaitingAgent
) -> RequestEnd:
    """The next request that waits in this conversation, to its end. Raises ``TimedOut`` where none can be answered."""
    with dependencies.pending.track_request(waiting_agent.pane, "server"):
        async with session_control.wait_for_request(waiting_agent.handled_ids) as waiting:
            action = AnswerAgent(
                agent=waiting_agent.agent,
                tool=waiting.tool,
                command=waiting.command,
                given=waiting.given,
                cwd=waiting.cwd,
                session=session_control.session,
                pane=waiting_agent.pane,
                request=f"{waiting.id}:{os.urandom(8).hex()}",
            )
            plea = ServerPermissionRequest(session_control, waiting, action)
            with dependencies.pending.register_callback(action.request, plea.allow):
                end, outcome = await _race_answers(
                    _request_decision(dependencies, action), plea.wait_until_answered_elsewhere()
                )
            if outcome is not None and outcome.why == "deny":
                await plea.deny()
            if end == "answered":
                waiting_agent.handled_ids.add(waiting.id)
            return end


class DialogPermissionRequest(Struct, frozen=True, kw_only=True):
    """A dialog that is shown, by which the agent can be answered."""

    pane: PaneId
    agent: str
    rows: tuple[str, ...]
    command: str = ""
    """What it asks to run; only where the dialog shows it, too."""
    session: str = ""
    cwd: str = ""

    @property
    def action(self) -> AnswerAgent:
        told = "\n".join(row.strip(" │┃") for row in self.rows)
        return AnswerAgent(
            agent=self.agent,
            tool="dialog",
            command=self.command if strip_decoration(self.command) in strip_decoration("".join(self.rows)) else "",
            given=msgspec.json.encode({"dialog": told}).decode(),
            cwd=self.cwd,
            session=self.session,
            pane=self.pane,
            request=os.urandom(8).hex(),
        )


async def forward_dialog_request(
    dependencies: PermissionDependencies,
    commander: AgentCommander,
    dialog: DialogPermissionRequest,
    elsewhere: PlainCoroutine[RequestEnd],
) -> RequestEnd:
    """The question that a dialog asks, to its end."""
    action = dialog.action

    async def allow(belief: PaneSnapshot | None) -> Outcome:
        if belief is None:
            raise StaleSnapshot("nothing was done: the pane is gone", details={"why": "pane_gone"})
        return await commander.build_keyboard(belief).pick_choice("allow", dialog.rows)

    with (
        dependencies.pending.track_request(dialog.pane, "dialog"),
        dependencies.pending.register_callback(action.request, allow),
    ):
        end, outcome = await _race_answers(_request_decision(dependencies, action), elsewhere)
        if outcome is not None and outcome.why == "deny":
            refusal = AnswerDialog(pane=dialog.pane, agent=dialog.agent, choice="deny", rows=dialog.rows)
            await dependencies.gate.run(refusal, dependencies.actor, Preconditions(correlation=outcome.correlation))
        return end


async def _request_decision(dependencies: PermissionDependencies, action: AnswerAgent) -> Outcome | None:
    """None where there is no clear answer: then nothing is said."""
    try:
        return await answer_hook_request(
            dependencies.gate, action, dependencies.actor, Preconditions(wait_for_answer=MAX_ANSWER_WAIT_S)
        )
    except (StaleSnapshot, Unavailable) as error:
        log.info("the answer did not get to %s: %s", action.agent, error.message)
    except VisorError as error:
        log.info("nothing is said to %s: %s", action.agent, error.message)
    return None


async def _race_answers(
    asking: PlainCoroutine[Outcome | None], elsewhere: PlainCoroutine[RequestEnd]
) -> tuple[RequestEnd, Outcome | None]:
    """What came first; the other is given up, and a question that nobody waits for is withdrawn."""
    async with asyncio.TaskGroup() as group:
        ours, theirs = group.create_task(asking), group.create_task(elsewhere)
        await asyncio.wait((ours, theirs), return_when=asyncio.FIRST_COMPLETED)
        ours.cancel()
        theirs.cancel()
    return (theirs.result(), None) if ours.cancelled() else ("answered", ours.result())
