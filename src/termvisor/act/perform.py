"""Does what is neither text nor a question: keys, programs, signals, places on the screen."""

from typing import Literal, Protocol

from msgspec.structs import replace

from termvisor.act.belief import Belief
from termvisor.errors import NotFound, StaleSnapshot, Unsupported
from termvisor.model.action import Action, Activate, Attach, Kill, SendKeys, SetTitle, Spawn, kind_of
from termvisor.model.ids import PaneId
from termvisor.model.outcome import Outcome
from termvisor.mux.control import Mismatch, PaneControl


class Ways(Protocol):
    """How the world is reached."""

    def control(self, pane: PaneId) -> PaneControl: ...

    async def server(self, socket: str) -> PaneControl:
        """The server on this socket, or the only one there is; raises ``NotFound``."""

    def signal(self, belief: Belief, name: str) -> int:
        """Send a signal to the foreground process group of a pane; its number. Raises ``StaleSnapshot``."""


class Perform:
    def __init__(self, ways: Ways):
        self._ways = ways

    async def do(self, action: Action, belief: Belief | None) -> Outcome:
        """Raises ``StaleSnapshot`` when the pane is no longer what was believed; then nothing was done."""
        if isinstance(action, Spawn):
            return await self._spawn(action, belief)
        if belief is None:
            raise NotFound("there is no pane to act on")
        if isinstance(action, SendKeys):
            return _done(belief, await self._ways.control(action.pane).press(belief.guard(), action.keys))
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
        if belief is None:
            mux_pane, pid = await (await self._ways.server(action.server)).open(action, None)
        else:
            session = action.session or belief.view.facts.session_id
            wanted = replace(action, session=session) if action.where == "window" else action
            mux_pane, pid = await self._ways.control(belief.view.id).open(wanted, belief.sight.pane)
        return Outcome(status="done", mux_pane=mux_pane, pid=pid)

    async def _kill(self, action: Kill, belief: Belief) -> Outcome:
        if action.closes_pane:
            return await self._alter(belief, "close")
        group = self._ways.signal(belief, action.signal)
        return Outcome(status="done", pane=action.pane, pid=group, text=f"SIG{action.signal} was sent")

    async def _alter(self, belief: Belief, change: Literal["activate", "title", "close"], value: str = "") -> Outcome:
        guard = replace(belief.guard(), command=None, alternate=None, takes_input=False)
        return _done(belief, await self._ways.control(belief.view.id).alter(guard, change, value))


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
