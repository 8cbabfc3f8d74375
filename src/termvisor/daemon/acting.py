"""The panes as the gate knows them: what is believed of them now, and the ways to reach them."""

from collections.abc import Awaitable, Callable

from termvisor.act.approval import Inbox
from termvisor.act.belief import Belief
from termvisor.act.gate import Gate, Means
from termvisor.act.judging import PolicyFile, PolicyJudge
from termvisor.act.perform import Perform
from termvisor.daemon.door import Behind
from termvisor.daemon.parts import Parts
from termvisor.errors import NotFound, StaleSnapshot
from termvisor.model.ids import PaneId
from termvisor.model.pane import InputPlace, PaneView
from termvisor.model.terms import Terms
from termvisor.mux.control import PaneControl
from termvisor.mux.tmux.control import TmuxControl
from termvisor.mux.tmux.process import started
from termvisor.mux.tmux.terminal import foreground, send_signal, unread
from termvisor.policy.path import Scope
from termvisor.settings import home

POLICY = "policy.toml"
_NO_LONGER = "pane {} no longer exists"


def behind(parts: Parts, panes: Callable[[], Awaitable[list[PaneView]]]) -> Behind:
    """The gate with all it needs; the only place where it is given the means to change a pane."""
    live, clock, places = LivePanes(parts, panes), parts.clock, parts.places
    own = (places.config_dir, places.data_dir, places.runtime_dir)
    scope = Scope(home=home(), own=own)
    judge = PolicyJudge(PolicyFile(f"{places.config_dir}/{POLICY}"), scope, clock)
    inbox = Inbox(parts.store, clock)
    secret = (parts.pipeline.nonce or "").encode()
    gate = Gate(Means(parts.store, live, judge, inbox, Perform(live), clock, secret))
    return Behind(gate, judge, inbox, parts.store, clock)


class LivePanes:
    """Everything is asked of the multiplexer anew; nothing is remembered between two actions."""

    def __init__(self, parts: Parts, panes: Callable[[], Awaitable[list[PaneView]]]):
        self._parts, self._panes = parts, panes

    async def view(self, pane: PaneId) -> PaneView:
        for view in await self._panes():
            if view.id == pane:
                return view
        raise NotFound(_NO_LONGER.format(pane))

    async def believe(self, pane: PaneId, terms: Terms) -> Belief:
        parts, view = self._parts, await self.view(pane)
        sight = await self.control(pane).see(view.instance.mux_id)
        if sight is None:
            raise NotFound(_NO_LONGER.format(pane))
        now = parts.clock.now()
        lines = await parts.store.output.lines(pane, limit=terms.tail_lines) if terms.tail is not None else []
        text = parts.pipeline.current.get(pane)
        return Belief(
            view=view,
            sight=sight,
            place=text.following.place if text else InputPlace(),
            observed_at=now,
            is_in_gap=text is None,
            is_ready=terms.is_ready and await self._is_ready(pane),
            tail=tuple(line.text for line in lines),
            reservation=await parts.store.reservations.of(pane, now),
        )

    def control(self, pane: PaneId) -> PaneControl:
        place = self._parts.lookout.place_of(pane)
        if place is None:
            raise NotFound(_NO_LONGER.format(pane))
        return TmuxControl(place[0].server)

    async def server(self, socket: str) -> PaneControl:
        await self._parts.lookout.has_looked.wait()
        watches = self._parts.lookout.watches
        found = [watch for path, watch in watches.items() if watch.has_begun and socket in ("", path)]
        if len(found) != 1:
            raise NotFound(f"{len(found)} tmux servers fit; name one by its socket", hint="`visor health` lists them.")
        return TmuxControl(found[0].server)

    def signal(self, belief: Belief, name: str) -> int:
        facts = belief.view.facts
        if started(facts.pid) != facts.pid_started:
            raise StaleSnapshot("nothing was done: another process runs in the pane", details={"why": "stale_pid"})
        found = foreground(facts.pid)
        if found is None or found.is_pane:
            raise StaleSnapshot(
                "nothing was done: no program runs in the foreground of the pane's shell",
                hint="`--pane` closes the pane itself.",
                details={"why": "nothing_in_foreground"},
            )
        if not send_signal(found.group, name):
            raise StaleSnapshot("nothing was done: the program has just ended", details={"why": "pane_dead"})
        return found.group

    def last_command_at(self, pane: PaneId) -> int:
        text = self._parts.pipeline.current.get(pane)
        return text.last_command_at if text else 0

    def unread(self, pane: PaneId) -> int | None:
        place = self._parts.lookout.place_of(pane)
        return None if place is None else unread(place[0].known[place[1]].facts.tty)

    async def last_command_line(self, pane: PaneId, since: int) -> str | None:
        found = await self._parts.store.commands.list(pane=pane, since=since, limit=1)
        return found[0].line if found and found[0].is_proven else None

    async def _is_ready(self, pane: PaneId) -> bool:
        """A ready variable since the last command began."""
        last = await self._parts.store.commands.one(pane, "last")
        events = await self._parts.store.events.list(pane=pane, since=last.started_at if last else None, limit=200)
        return any(event.kind == "user_var" and event.data.get("kind") == "ready" for event in events)
