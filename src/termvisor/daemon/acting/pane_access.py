"""The panes as the gate knows them: what is believed of them now, and the ways to reach them."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from termvisor.accounts.launcher import prefix
from termvisor.actions.agent_commands import Carry, Speaker
from termvisor.actions.approvals import Inbox
from termvisor.actions.attempt import Means
from termvisor.actions.audit_entry import place_of
from termvisor.actions.executor import Perform
from termvisor.actions.gate import Gate
from termvisor.actions.notifications.notifier import Notifier, ways
from termvisor.actions.pane_agent import Tenant
from termvisor.actions.permission_requests import Pleas
from termvisor.actions.policy_check import PolicyFile, PolicyJudge
from termvisor.actions.preconditions import Belief
from termvisor.agents.adapters.server_contract import Line
from termvisor.backends.pane_control import Client, PaneControl
from termvisor.backends.tmux.pane_control import TmuxControl
from termvisor.capture.server_watcher import ServerWatch
from termvisor.clock import NS
from termvisor.daemon.components import Parts
from termvisor.daemon.services.gate import Behind
from termvisor.errors import Conflict, MuxError, NotFound, StaleSnapshot
from termvisor.model.action.action import Release, Reserve
from termvisor.model.action.approval import Reservation
from termvisor.model.action.preconditions import Terms
from termvisor.model.agent.account import find
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.pane import InputPlace, PaneView
from termvisor.policy.path_rules import Scope
from termvisor.settings import home
from termvisor.system.process_start import children, started
from termvisor.system.tty import foreground, is_busy, send_signal, unread

POLICY = "policy.toml"
LookUp = Callable[[PaneId], Awaitable[PaneView | None]]
_NO_LONGER = "pane {} no longer exists"


def behind(parts: Parts, look_up: LookUp) -> Behind:
    """The gate with all it needs; the only place where it is given the means to change a pane."""
    live, clock, places = LivePanes(parts, look_up), parts.clock, parts.places
    own = (places.config_dir, places.data_dir, places.runtime_dir)
    scope = Scope(home=home(), own=own)
    judge = PolicyJudge(PolicyFile(f"{places.config_dir}/{POLICY}"), scope, clock)
    inbox = Inbox(parts.store, clock, parts.questions)
    audience = LiveAudience(parts, live)
    notifier = Notifier(audience, ways(audience, clock), lambda: parts.settings, clock)
    secret = (parts.pipeline.nonce or "").encode()
    perform = Perform(live, clock, notifier, partial(_under, parts))
    gate = Gate(Means(parts.store, live, judge, inbox, perform, clock, secret))
    return Behind(gate, judge, inbox, parts.store, clock, live, live.pleas, Speaker(live, clock))


def _under(parts: Parts, ref: str) -> tuple[str, ...]:
    """A reference is all that leaves us; what it stands for is looked up by the process that starts."""
    account = find(parts.settings.accounts, ref)
    if account is None:
        raise NotFound(f"there is no account {ref!r}", hint="`visor accounts list` shows them.")
    return prefix(parts.places.config_dir, account.ref)


class LivePanes:
    """Everything is asked of the multiplexer anew; nothing is remembered between two actions."""

    def __init__(self, parts: Parts, look_up: LookUp):
        self._parts, self._look_up = parts, look_up
        self.pleas = Pleas(parts.clock.monotonic)

    async def view(self, pane: PaneId) -> PaneView:
        found = await self._look_up(pane)
        if found is None or found.gone_at is not None:
            raise NotFound(_NO_LONGER.format(pane))
        return found

    async def believe(self, pane: PaneId, terms: Terms) -> Belief:
        """The multiplexer and the store are asked side by side; what was heard so far is read before."""
        parts, now = self._parts, self._parts.clock.now()
        watch, mux_id = self._place_of(pane)
        sight, view, held = await asyncio.gather(
            TmuxControl(watch.server).see(mux_id), self._heard(pane), parts.store.reservations.of(pane, now)
        )
        if sight is None:
            raise NotFound(_NO_LONGER.format(pane))
        lines = await parts.store.output.lines(pane, limit=terms.tail_lines) if terms.tail is not None else []
        text, line = parts.pipeline.current.get(pane), self.line(pane)
        return Belief(
            view=view,
            sight=sight,
            place=text.following.place if text else InputPlace(),
            observed_at=now,
            is_in_gap=text is None,
            is_ready=terms.is_ready and await self._is_ready(pane),
            tail=tuple(line.text for line in lines),
            reservation=held,
            tenant=self.tenant(pane),
            has_line=line is not None,
            takes_prompts=line is not None and line.may_prompt(sight.title),
            left=terms.undoes,
            children=children(sight.pid) if terms.undoes and terms.undoes.is_alone else None,
        )

    async def _heard(self, pane: PaneId) -> PaneView:
        await self._parts.pipeline.settle(pane)
        return await self.view(pane)

    def tenant(self, pane: PaneId) -> Tenant | None:
        knowing = self._parts.attending.knowing
        runtime = knowing.runtime_in(pane)
        if runtime is None:
            return None
        known, session = knowing.projection(runtime.id), knowing.session(runtime.id)
        return Tenant(
            agent=runtime.agent,
            runtime=runtime.id,
            pid=runtime.pid,
            state=known.state.value if known is not None else "unknown",
            session=session.external_id if session is not None else "",
        )

    def line(self, pane: PaneId) -> Line | None:
        runtime = self._parts.attending.knowing.runtime_in(pane)
        return None if runtime is None else self._parts.attending.servers.line_of(runtime)

    def has_left(self, runtime: RuntimeId) -> bool:
        living = self._parts.attending.knowing.living.values()
        return all(one.id != runtime for one in living)

    def carrier(self, request: str) -> Carry | None:
        return self.pleas.carrier(request)

    def control(self, pane: PaneId) -> PaneControl:
        return TmuxControl(self._place_of(pane)[0].server)

    def _place_of(self, pane: PaneId) -> tuple[ServerWatch, MuxPaneId]:
        place = self._parts.lookout.place_of(pane)
        if place is None:
            raise NotFound(_NO_LONGER.format(pane))
        return place

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

    async def reserve(self, action: Reserve) -> tuple[Reservation, bool]:
        now = self._parts.clock.now()
        until = now + int(action.seconds * NS)
        wanted = Reservation(pane=action.pane, owner=action.owner, at=now, expires_at=until)
        held = await self._parts.store.reservations.hold(wanted)
        if held.owner != action.owner:
            raise Conflict(f"pane {action.pane} is reserved by {held.owner}", details={"reservation": held.id})
        return held, held.at == now

    async def release(self, action: Release) -> None:
        if not await self._parts.store.reservations.release(action.reservation, self._parts.clock.now()):
            text = f"nothing was done: reservation {action.reservation} no longer holds"
            raise StaleSnapshot(text, details={"why": "not_reserved"})

    def last_command_at(self, pane: PaneId) -> int:
        text = self._parts.pipeline.current.get(pane)
        return text.last_command_at if text else 0

    def unread(self, pane: PaneId) -> int | None:
        place = self._parts.lookout.place_of(pane)
        return None if place is None else unread(place[0].known[place[1]].facts.tty)

    def is_busy(self, pane: PaneId) -> bool:
        place = self._parts.lookout.place_of(pane)
        facts = None if place is None else place[0].known[place[1]].facts
        return facts is not None and is_busy(facts.pid, facts.tty)

    async def last_command_line(self, pane: PaneId, since: int) -> str | None:
        found = await self._parts.store.commands.list(pane=pane, since=since, limit=1)
        return found[0].line if found and found[0].is_proven else None

    async def _is_ready(self, pane: PaneId) -> bool:
        """A ready variable since the last command began."""
        last = await self._parts.store.commands.one(pane, "last")
        events = await self._parts.store.events.list(pane=pane, since=last.started_at if last else None, limit=200)
        return any(event.kind == "user_var" and event.data.get("kind") == "ready" for event in events)


class LiveAudience:
    """The people at the servers that are watched."""

    def __init__(self, parts: Parts, panes: LivePanes):
        self._parts, self._panes = parts, panes

    async def clients(self) -> list[Client]:
        await self._parts.lookout.has_looked.wait()
        found: list[Client] = []
        trouble: MuxError | None = None
        for watch in [watch for watch in self._parts.lookout.watches.values() if watch.has_begun]:
            try:
                found += await TmuxControl(watch.server).clients()
            except MuxError as error:
                trouble = error
        if trouble is not None and not found:
            raise trouble
        return found

    async def viewers(self, pane: PaneId) -> list[Client]:
        place = self._parts.lookout.place_of(pane)
        if place is None:
            return []
        return [client for client in await TmuxControl(place[0].server).clients() if client.pane == place[1]]

    async def place(self, pane: PaneId) -> str:
        try:
            return place_of(await self._panes.view(pane))
        except NotFound:
            return ""
