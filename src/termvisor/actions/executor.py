"""Does what is neither text nor a question: keys, programs, signals, places on the screen, notifications."""

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec.structs import replace

from termvisor.actions import agent_commands as speak
from termvisor.actions import run_program as program
from termvisor.actions.input_line import piece_of
from termvisor.actions.preconditions import TO_AGENT, Belief
from termvisor.backends.pane_control import Former, Mismatch, PaneControl
from termvisor.clock import Clock
from termvisor.errors import NotFound, StaleSnapshot, Unsupported
from termvisor.model.action.action import (
    Action,
    Activate,
    AnswerAgent,
    AskPerson,
    Attach,
    Kill,
    Notify,
    Release,
    Reserve,
    RunProgram,
    RunWorkflow,
    SendKeys,
    SetTitle,
    Spawn,
    kind_of,
)
from termvisor.model.action.approval import Reservation
from termvisor.model.action.outcome import Outcome
from termvisor.model.event import Scalar
from termvisor.redaction import redact

_TITLE = 500
"""Characters of a title that are kept; a longer one cannot be given back."""


class Ways(speak.Ways, Protocol):
    """How the world is reached."""

    async def server(self, socket: str) -> PaneControl:
        """The server on this socket, or the only one there is; raises ``NotFound``."""

    def signal(self, belief: Belief, name: str) -> int:
        """Send a signal to the foreground process group of a pane; its number. Raises ``StaleSnapshot``."""

    async def reserve(self, action: Reserve) -> tuple[Reservation, bool]:
        """The reservation that holds now, and whether it was made just now. Raises ``Conflict``."""

    async def release(self, action: Release) -> None:
        """Raises ``StaleSnapshot`` where there is nothing to release."""


class Teller(Protocol):
    """How people are reached."""

    async def tell(self, action: Notify, correlation: str) -> Outcome:
        """What came of it; that it did not work is an outcome too."""


Under = Callable[[str], tuple[str, ...]]
"""The words before a command that start it under an account; raises ``NotFound``."""


def _under_nobody(account: str) -> tuple[str, ...]:
    raise NotFound(f"there is no account {account!r}")


class Perform:
    def __init__(self, ways: Ways, clock: Clock, teller: Teller | None = None, under: Under = _under_nobody):
        self._ways, self._teller, self._speaker = ways, teller, speak.Speaker(ways, clock)
        self._under = under

    async def do(self, action: Action, belief: Belief | None, correlation: str = "") -> Outcome:
        """Raises ``StaleSnapshot`` when the pane is no longer what was believed; then nothing was done."""
        if isinstance(action, Notify) and self._teller is not None:
            return await self._teller.tell(action, correlation)
        if isinstance(action, Spawn):
            return await self._spawn(action, belief)
        if isinstance(action, Reserve | Release):
            return await self._hold(action)
        if isinstance(action, AnswerAgent):
            return await self._speaker.allow(action, belief)
        if isinstance(action, RunProgram):
            return await program.run(action)
        if isinstance(action, AskPerson | RunWorkflow):
            return Outcome(status="done", pane=action.pane)  # who asked carries it on: a run, an operation
        if belief is None:
            raise NotFound("there is no pane to act on")
        return await self._in_pane(action, belief)

    async def _in_pane(self, action: Action, belief: Belief) -> Outcome:
        if isinstance(action, SendKeys):
            return await self._press(action, belief)
        if isinstance(action, TO_AGENT):
            return await self._speaker.say(action, belief)
        if isinstance(action, Kill):
            return await self._kill(action, belief)
        if isinstance(action, Activate):
            return await self._alter(belief, "activate")
        if isinstance(action, Attach):
            return Outcome(status="done", pane=action.pane)  # the caller's own terminal does it
        if isinstance(action, SetTitle):
            return await self._alter(belief, "title", action.title)
        raise Unsupported(f"{kind_of(action)} cannot be done here")

    async def _spawn(self, action: Spawn, belief: Belief | None) -> Outcome:
        if action.account:
            action = replace(action, command=(*self._under(action.account), *action.command))
        if belief is None:
            mux_pane, pid = await (await self._ways.server(action.server)).open(action, None)
        else:
            session = action.session or belief.view.facts.session_id
            wanted = replace(action, session=session) if action.where == "window" else action
            mux_pane, pid = await self._ways.control(belief.view.id).open(wanted, belief.sight.pane)
        return Outcome(status="done", mux_pane=mux_pane, pid=pid, former={"mux_pane": mux_pane, "pid": pid})

    async def _press(self, action: SendKeys, belief: Belief) -> Outcome:
        is_undo = belief.left is not None and belief.left.is_typed
        piece = piece_of(belief.typed.before, belief.sight.width) if is_undo and belief.typed else ""
        return _done(belief, await self._ways.control(action.pane).press(belief.guard(piece), action.keys))

    async def _hold(self, action: Reserve | Release) -> Outcome:
        if isinstance(action, Release):
            await self._ways.release(action)
            return Outcome(status="done", pane=action.pane)
        held, is_new = await self._ways.reserve(action)
        return Outcome(status="done", pane=action.pane, former={"reservation": held.id, "is_longer": not is_new})

    async def _kill(self, action: Kill, belief: Belief) -> Outcome:
        if action.closes_pane:
            return await self._alter(belief, "close")
        group = self._ways.signal(belief, action.signal)
        return Outcome(status="done", pane=action.pane, pid=group, text=f"SIG{action.signal} was sent")

    async def _alter(self, belief: Belief, change: Literal["activate", "title", "close"], value: str = "") -> Outcome:
        guard = replace(belief.guard(), command=None, alternate=None, takes_input=False)
        found = await self._ways.control(belief.view.id).alter(guard, change, value)
        kept = {} if isinstance(found, Mismatch) else _kept(found, change)
        return replace(_done(belief, found if isinstance(found, Mismatch) else None), former=kept)


def _kept(former: Former, change: Literal["activate", "title", "close"]) -> dict[str, Scalar]:
    """What the record needs to take it back. A title with a secret in it is not kept."""
    if change == "activate":
        return {"former_front": former.front}
    titles = {"former_title": former.title, "title": former.new_title} if change == "title" else {}
    return {name: title for name, title in titles.items() if redact(title) == title and len(title) <= _TITLE}


def _done(belief: Belief, found: Mismatch | None) -> Outcome:
    if found is None:
        return Outcome(status="done", pane=belief.view.id)
    raise StaleSnapshot(
        f"nothing was done: expected {found.expected}, found {found.actual}",
        details={
            "outcome": "refused",
            "why": f"stale_{found.what}",
            "expected": found.expected,
            "actual": found.actual,
        },
    )
