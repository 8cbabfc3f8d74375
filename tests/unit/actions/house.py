"""A watching world with a real bash in a real tmux, and the gate that leads into it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from termvisor.actions.approvals import Inbox
from termvisor.actions.attempt import Means
from termvisor.actions.executor import Perform
from termvisor.actions.gate import Gate
from termvisor.actions.policy_check import Judged
from termvisor.daemon.acting.pane_access import LivePanes
from termvisor.daemon.assembly import nonce, open_world
from termvisor.daemon.services.services import LiveWorld
from termvisor.model.action.action import Action, Actor, SendText
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.verdict import Reason, strictest
from termvisor.model.ids import PaneId
from termvisor.settings import Places, Settings
from termvisor.setup.shell_integration import snippet
from termvisor.testing.tmux import PrivateTmux, private_tmux
from tests.compiled import lend
from tests.unit.waiting import until

ME = Actor(kind="human", uid=1000, pid=1)
RC = "HISTFILE=\nPS1='$ '\nset +o history; set -o history\n"


class Lenient:
    """A judge that says what it is told to say."""

    def __init__(self) -> None:
        self.answer: str = "allow"
        self.needs = 1
        self.told: list[tuple[str, str]] = []

    async def judge(self, action: Action, actor: Actor, belief: object) -> Judged:
        return await self.look(action, actor, belief)

    async def look(self, action: Action, _actor: Actor, _belief: object) -> Judged:
        reason = Reason(source="rule", id="test", answer=self.answer, text="the test says so")
        return Judged(action=action, verdict=strictest((reason,)), needs=self.needs, expires_for=60)

    def explain(self, action: Action, actor: Actor, belief: object) -> list[str]:
        return [self.answer]

    async def after(self, judged: Judged, status: str, why: str) -> None:
        self.told.append((status, why))


class House:
    def __init__(self, world: LiveWorld, tmux: PrivateTmux, places: Places):
        parts = world._parts
        self.world, self.tmux, self.places, self.store = world, tmux, places, parts.store
        self.judge = Lenient()
        self.panes = LivePanes(parts, world.fleet.pane)
        self.inbox = Inbox(parts.store, parts.clock)
        means = Means(
            parts.store,
            self.panes,
            self.judge,
            self.inbox,
            Perform(self.panes, parts.clock),
            parts.clock,
            b"0123456789abcdef",
        )
        self.gate = Gate(means)

    async def pane(self, mux_id: str) -> PaneId:
        """Our number for a pane, once it is heard."""

        async def found() -> PaneId | None:
            views = await self.world.fleet.panes()
            return next((view.id for view in views if view.instance.mux_id == mux_id and view.heard_by == "pipe"), None)

        for _ in range(500):
            if (number := await found()) is not None:
                return number
            await until_next_turn()
        raise AssertionError(f"{mux_id} is not heard")

    async def bash(self, *, session: str = "work") -> tuple[str, PaneId]:
        """A shell at its prompt that shows our nonce."""
        rc = f"{self.places.config_dir}/rc"
        os.makedirs(self.places.config_dir, exist_ok=True)
        with open(rc, "wb") as file:
            file.write(RC.encode() + snippet("bash", self.places.nonce_file))
        mux_id = self.tmux.window(session, f"exec bash --noprofile --rcfile {rc} -i")
        number = await self.pane(mux_id)
        await self.until_at_prompt(number)
        return mux_id, number

    async def until_at_prompt(self, pane: PaneId) -> None:
        self.tmux.type(self.mux(pane), "")
        await until(lambda: self.activity(pane) == ("prompt", True))

    def mux(self, pane: PaneId) -> str:
        place = self.world._parts.lookout.place_of(pane)
        assert place is not None
        return place[1]

    def activity(self, pane: PaneId) -> tuple[str, bool]:
        text = self.world._parts.pipeline.current.get(pane)
        return ("none", False) if text is None else (text.following.activity.kind, text.following.activity.is_proven)

    def screen(self, mux_id: str) -> str:
        return self.tmux("capture-pane", "-p", "-J", "-t", mux_id)

    async def send(self, pane: PaneId, text: str, *, enter: bool = True, **terms: object) -> Outcome:
        return await self.gate.do(SendText(pane=pane, text=text, enter=enter), ME, Terms(**terms))


async def until_next_turn() -> None:
    await asyncio.sleep(0.02)


@asynccontextmanager
async def house(folder: str) -> AsyncIterator[House]:
    places = Places(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    lend(places)
    nonce(places.nonce_file)
    with private_tmux(places.runtime_dir) as tmux:
        tmux.start(command="sh")
        settings = Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1, flush_interval=0.02)
        async with open_world(places, settings) as world:
            yield House(world, tmux, places)
