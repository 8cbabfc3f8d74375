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

from termvisor.actions.agent_commands import Carry, Speaker
from termvisor.actions.hook_answer import Door, answered
from termvisor.actions.input_line import squeeze
from termvisor.actions.preconditions import Belief
from termvisor.agents.adapters.dialog_options import Decision
from termvisor.agents.adapters.server_contract import Line, Plea
from termvisor.errors import Conflict, StaleSnapshot, TimedOut, Unavailable, VisorError
from termvisor.log import logger
from termvisor.model.action.action import Actor, AnswerAgent, AnswerDialog
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.ids import PaneId

WAIT_FOR = 3600.0
"""Seconds that a person has at most; the policy may give less. The agent's dialog is open all the time."""
_RESOLVED_WITHIN = 5.0
_CLOSES_WITHIN = 5.0
"""Seconds that a dialog may still be shown after its hook was answered."""
Way = Literal["hook", "server", "dialog"]
End = Literal["answered", "elsewhere", "lost"]
T = TypeVar("T")
Plain = Coroutine[Any, Any, T]
log = logger("pleas")


class Pleas:
    """Requests that are on their way, and by which. ``monotonic`` tells how long ago one ended."""

    def __init__(self, monotonic: Callable[[], float] | None = None) -> None:
        self._monotonic = monotonic
        self._hooked_at: dict[PaneId, float] = {}
        self._carriers: dict[str, Carry] = {}
        self._held: Counter[tuple[PaneId, Way]] = Counter()

    def carrier(self, request: str) -> Carry | None:
        return self._carriers.get(request)

    def is_held(self, pane: PaneId, way: Way) -> bool:
        """Whether what is asked in that pane is on its way already, by another way, or just was by a hook."""
        if way == "dialog" and self._monotonic is not None and pane in self._hooked_at:
            if self._monotonic() - self._hooked_at[pane] < _CLOSES_WITHIN:
                return True
            del self._hooked_at[pane]
        return any(count and held == pane and by != way for (held, by), count in self._held.items())

    @contextmanager
    def held(self, pane: PaneId | None, way: Way) -> Iterator[None]:
        """Raises ``Conflict`` where it is on its way already."""
        if pane is None:
            yield
            return
        if self.is_held(pane, way):
            raise Conflict("this request is in the inbox already", hint="`visor inbox` shows it.")
        self._held[pane, way] += 1
        try:
            yield
        finally:
            self._held[pane, way] -= 1
            if way == "hook" and self._monotonic is not None:
                self._hooked_at[pane] = self._monotonic()

    @contextmanager
    def carried(self, request: str, carry: Carry) -> Iterator[None]:
        self._carriers[request] = carry
        try:
            yield
        finally:
            del self._carriers[request]


class Means(Struct):
    """``actor`` is the daemon: what is asked is the agent's wish all the same."""

    gate: Door
    pleas: Pleas
    actor: Actor


class ServerPlea:
    """One request out of a conversation that is heard."""

    def __init__(self, line: Line, plea: Plea, action: AnswerAgent):
        self._line, self._plea, self.action = line, plea, action
        self._is_said = False

    async def allow(self, _belief: Belief | None) -> Outcome:
        """Part of the gate's deed: its outcome is what is proven."""
        done = Outcome(status="done", why="answered", pane=self.action.pane, channel="native")
        try:
            if not await self._say("allow"):
                raise StaleSnapshot("nothing was done: the request waits no longer", details={"why": "request_gone"})
            async with asyncio.timeout(_RESOLVED_WITHIN):
                is_heard = await self._line.until_answered(self._plea)
        except (TimeoutError, TimedOut, Unavailable):
            is_heard = False
        return done if is_heard else replace(done, status="unknown", why="not_confirmed")

    async def deny(self) -> None:
        await self._say("deny")

    async def elsewhere(self) -> End:
        """Returns when somebody else answered, or nothing is heard any more; never for our own answer."""
        is_heard = await self._line.until_answered(self._plea)
        if self._is_said:
            await asyncio.Event().wait()
        return "elsewhere" if is_heard else "lost"

    async def _say(self, decision: Decision) -> bool:
        self._is_said = True
        return await self._line.answer(self._plea, decision)


class Asker(Struct):
    """An agent that waits, and what of it was dealt with before."""

    agent: str
    pane: PaneId
    known: set[str] = field(default_factory=set)


async def by_server(means: Means, line: Line, asker: Asker) -> End:
    """The next request that waits in this conversation, to its end. Raises ``TimedOut`` where none can be answered."""
    with means.pleas.held(asker.pane, "server"):
        async with line.plea(asker.known) as waiting:
            action = AnswerAgent(
                agent=asker.agent,
                tool=waiting.tool,
                command=waiting.command,
                given=waiting.given,
                cwd=waiting.cwd,
                session=line.session,
                pane=asker.pane,
                request=f"{waiting.id}:{os.urandom(8).hex()}",
            )
            plea = ServerPlea(line, waiting, action)
            with means.pleas.carried(action.request, plea.allow):
                end, outcome = await _first(_asked(means, action), plea.elsewhere())
            if outcome is not None and outcome.why == "deny":
                await plea.deny()
            if end == "answered":
                asker.known.add(waiting.id)
            return end


class DialogPlea(Struct, frozen=True, kw_only=True):
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
            command=self.command if squeeze(self.command) in squeeze("".join(self.rows)) else "",
            given=msgspec.json.encode({"dialog": told}).decode(),
            cwd=self.cwd,
            session=self.session,
            pane=self.pane,
            request=os.urandom(8).hex(),
        )


async def by_dialog(means: Means, speaker: Speaker, dialog: DialogPlea, elsewhere: Plain[End]) -> End:
    """The question that a dialog asks, to its end."""
    action = dialog.action

    async def allow(belief: Belief | None) -> Outcome:
        if belief is None:
            raise StaleSnapshot("nothing was done: the pane is gone", details={"why": "pane_gone"})
        return await speaker.hand(belief).pick("allow", dialog.rows)

    with means.pleas.held(dialog.pane, "dialog"), means.pleas.carried(action.request, allow):
        end, outcome = await _first(_asked(means, action), elsewhere)
        if outcome is not None and outcome.why == "deny":
            refusal = AnswerDialog(pane=dialog.pane, agent=dialog.agent, choice="deny", rows=dialog.rows)
            await means.gate.do(refusal, means.actor, Terms(correlation=outcome.correlation))
        return end


async def _asked(means: Means, action: AnswerAgent) -> Outcome | None:
    """None where there is no clear answer: then nothing is said."""
    try:
        return await answered(means.gate, action, means.actor, Terms(wait_for_answer=WAIT_FOR))
    except (StaleSnapshot, Unavailable) as error:
        log.info("the answer did not get to %s: %s", action.agent, error.message)
    except VisorError as error:
        log.info("nothing is said to %s: %s", action.agent, error.message)
    return None


async def _first(asking: Plain[Outcome | None], elsewhere: Plain[End]) -> tuple[End, Outcome | None]:
    """What came first; the other is given up, and a question that nobody waits for is withdrawn."""
    async with asyncio.TaskGroup() as group:
        ours, theirs = group.create_task(asking), group.create_task(elsewhere)
        await asyncio.wait((ours, theirs), return_when=asyncio.FIRST_COMPLETED)
        ours.cancel()
        theirs.cancel()
    return (theirs.result(), None) if ours.cancelled() else ("answered", ours.result())
