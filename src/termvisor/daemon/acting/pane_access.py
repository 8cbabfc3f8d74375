"""The panes as the gate knows them: what is believed of them now, and the ways to reach them."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from termvisor.accounts.launcher import build_command_prefix
from termvisor.actions.agent_commands import AgentCommander, AllowCallback
from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.attempt import GateDependencies
from termvisor.actions.audit_entry import format_pane_location
from termvisor.actions.executor import ActionExecutor
from termvisor.actions.gate import Gate
from termvisor.actions.notifications.notifier import Notifier, build_channels
from termvisor.actions.pane_agent import PaneAgent
from termvisor.actions.permission_requests import PendingPermissionRequests
from termvisor.actions.policy_check import PolicyChecker, PolicyFile
from termvisor.actions.preconditions import PaneSnapshot
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.backends.pane_control import AttachedClient, PaneControl
from termvisor.backends.tmux.pane_control import TmuxPaneControl
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.services.gate import GateComponents
from termvisor.errors import Conflict, MuxError, NotFound, StaleSnapshot
from termvisor.model.action.action import Release, Reserve
from termvisor.model.action.approval import Reservation
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.account import find_account
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.pane import InputState, PaneView
from termvisor.policy.path_rules import PathScope
from termvisor.settings import get_home_folder
from termvisor.system.process_start import count_children, read_start_time
from termvisor.system.tty import count_unread_bytes, find_foreground, is_busy, send_signal

POLICY_FILE = "policy.toml"
FindPane = Callable[[PaneId], Awaitable[PaneView | None]]
_PANE_GONE = "pane {} no longer exists"


def build_gate(components: Components, find_pane: FindPane) -> GateComponents:
    """The gate with all it needs; the only place where it is given the means to change a pane."""
    live, clock, places = LivePaneAccess(components, find_pane), components.clock, components.paths
    own = (places.config_dir, places.data_dir, places.runtime_dir)
    scope = PathScope(home=get_home_folder(), own_paths=own)
    judge = PolicyChecker(PolicyFile(f"{places.config_dir}/{POLICY_FILE}"), scope, clock)
    inbox = ApprovalQueue(components.store, clock, components.approval_bus)
    audience = LiveRecipients(components, live)
    notifier = Notifier(audience, build_channels(audience, clock), lambda: components.settings, clock)
    secret = (components.pipeline.nonce or "").encode()
    perform = ActionExecutor(live, clock, notifier, partial(_build_launch_prefix, components))
    gate = Gate(GateDependencies(components.store, live, judge, inbox, perform, clock, secret))
    return GateComponents(
        gate, judge, inbox, components.store, clock, live, live.permission_requests, AgentCommander(live, clock)
    )


def _build_launch_prefix(components: Components, ref: str) -> tuple[str, ...]:
    """A reference is all that leaves us; what it stands for is looked up by the process that starts."""
    account = find_account(components.settings.accounts, ref)
    if account is None:
        raise NotFound(f"there is no account {ref!r}", hint="`visor accounts list` shows them.")
    return build_command_prefix(components.paths.config_dir, account.ref)


class LivePaneAccess:
    """Everything is asked of the multiplexer anew; nothing is remembered between two actions."""

    def __init__(self, components: Components, find_pane: FindPane):
        self._components, self._find_pane = components, find_pane
        self.permission_requests = PendingPermissionRequests(components.clock.monotonic)

    async def get_pane(self, pane: PaneId) -> PaneView:
        found = await self._find_pane(pane)
        if found is None or found.gone_at is not None:
            raise NotFound(_PANE_GONE.format(pane))
        return found

    async def take_snapshot(self, pane: PaneId, preconditions: Preconditions) -> PaneSnapshot:
        """The multiplexer and the store are asked side by side; what was heard so far is read before."""
        parts, now = self._components, self._components.clock.now()
        watch, mux_id = self._locate_pane(pane)
        sight, view, held = await asyncio.gather(
            TmuxPaneControl(watch.server).read_pane_state(mux_id),
            self._settle_and_view(pane),
            parts.store.reservations.find_for_pane(pane, now),
        )
        if sight is None:
            raise NotFound(_PANE_GONE.format(pane))
        lines = (
            await parts.store.output.read_lines(pane, limit=preconditions.tail_lines)
            if preconditions.tail is not None
            else []
        )
        text, line = parts.pipeline.current_readers.get(pane), self.get_session_control(pane)
        return PaneSnapshot(
            view=view,
            pane_state=sight,
            input_place=text.activity_state.place if text else InputState(),
            observed_at=now,
            is_in_gap=text is None,
            is_ready=preconditions.is_ready and await self._is_ready(pane),
            tail=tuple(line.text for line in lines),
            reservation=held,
            agent=self.find_agent(pane),
            has_agent_server=line is not None,
            takes_prompts=line is not None and line.can_prompt(sight.title),
            undo_target=preconditions.undoes,
            child_count=count_children(sight.pid) if preconditions.undoes and preconditions.undoes.is_alone else None,
        )

    async def _settle_and_view(self, pane: PaneId) -> PaneView:
        await self._components.pipeline.wait_settled(pane)
        return await self.get_pane(pane)

    def find_agent(self, pane: PaneId) -> PaneAgent | None:
        knowing = self._components.agent_tracking.tracker
        runtime = knowing.find_agent_in_pane(pane)
        if runtime is None:
            return None
        known, session = knowing.get_projection(runtime.id), knowing.get_session(runtime.id)
        return PaneAgent(
            name=runtime.agent,
            runtime=runtime.id,
            pid=runtime.pid,
            state=known.state.value if known is not None else "unknown",
            session=session.external_id if session is not None else "",
        )

    def get_session_control(self, pane: PaneId) -> SessionControl | None:
        runtime = self._components.agent_tracking.tracker.find_agent_in_pane(pane)
        return None if runtime is None else self._components.agent_tracking.servers.find_session_control(runtime)

    def has_exited(self, runtime: RuntimeId) -> bool:
        living = self._components.agent_tracking.tracker.agents_by_pane.values()
        return all(one.id != runtime for one in living)

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        return self.permission_requests.find_allow_callback(request)

    def get_control(self, pane: PaneId) -> PaneControl:
        return TmuxPaneControl(self._locate_pane(pane)[0].server)

    def _locate_pane(self, pane: PaneId) -> tuple[ServerWatcher, MuxPaneId]:
        place = self._components.server_supervisor.locate_pane(pane)
        if place is None:
            raise NotFound(_PANE_GONE.format(pane))
        return place

    async def get_server_control(self, socket: str) -> PaneControl:
        await self._components.server_supervisor.first_scan_done.wait()
        watches = self._components.server_supervisor.watchers
        found = [watch for path, watch in watches.items() if watch.has_started and socket in ("", path)]
        if len(found) != 1:
            raise NotFound(f"{len(found)} tmux servers fit; name one by its socket", hint="`visor health` lists them.")
        return TmuxPaneControl(found[0].server)

    def send_signal(self, snapshot: PaneSnapshot, name: str) -> int:
        facts = snapshot.view.facts
        if read_start_time(facts.pid) != facts.pid_started:
            raise StaleSnapshot("nothing was done: another process runs in the pane", details={"why": "stale_pid"})
        found = find_foreground(facts.pid)
        if found is None or found.is_pane_process:
            raise StaleSnapshot(
                "nothing was done: no program runs in the foreground of the pane's shell",
                hint="`--pane` closes the pane itself.",
                details={"why": "nothing_in_foreground"},
            )
        if not send_signal(found.group, name):
            raise StaleSnapshot("nothing was done: the program has just ended", details={"why": "pane_dead"})
        return found.group

    async def reserve(self, action: Reserve) -> tuple[Reservation, bool]:
        now = self._components.clock.now()
        until = now + int(action.seconds * NS)
        wanted = Reservation(pane=action.pane, owner=action.owner, at=now, expires_at=until)
        held = await self._components.store.reservations.hold(wanted)
        if held.owner != action.owner:
            raise Conflict(f"pane {action.pane} is reserved by {held.owner}", details={"reservation": held.id})
        return held, held.at == now

    async def release(self, action: Release) -> None:
        if not await self._components.store.reservations.release(action.reservation, self._components.clock.now()):
            text = f"nothing was done: reservation {action.reservation} no longer holds"
            raise StaleSnapshot(text, details={"why": "not_reserved"})

    def get_last_command_time(self, pane: PaneId) -> int:
        text = self._components.pipeline.current_readers.get(pane)
        return text.last_command_at if text else 0

    def count_unread_bytes(self, pane: PaneId) -> int | None:
        place = self._components.server_supervisor.locate_pane(pane)
        return None if place is None else count_unread_bytes(place[0].known_panes[place[1]].facts.tty)

    def is_busy(self, pane: PaneId) -> bool:
        place = self._components.server_supervisor.locate_pane(pane)
        facts = None if place is None else place[0].known_panes[place[1]].facts
        return facts is not None and is_busy(facts.pid, facts.tty)

    async def find_last_command_line(self, pane: PaneId, since: int) -> str | None:
        found = await self._components.store.commands.list(pane=pane, since=since, limit=1)
        return found[0].line if found and found[0].is_proven else None

    async def _is_ready(self, pane: PaneId) -> bool:
        """A ready variable since the last command began."""
        last = await self._components.store.commands.find(pane, "last")
        events = await self._components.store.events.list(pane=pane, since=last.started_at if last else None, limit=200)
        return any(event.kind == "user_var" and event.data.get("kind") == "ready" for event in events)


class LiveRecipients:
    """The people at the servers that are watched."""

    def __init__(self, components: Components, panes: LivePaneAccess):
        self._components, self._panes = components, panes

    async def list_clients(self) -> list[AttachedClient]:
        await self._components.server_supervisor.first_scan_done.wait()
        found: list[AttachedClient] = []
        trouble: MuxError | None = None
        for watch in [watch for watch in self._components.server_supervisor.watchers.values() if watch.has_started]:
            try:
                found += await TmuxPaneControl(watch.server).list_clients()
            except MuxError as error:
                trouble = error
        if trouble is not None and not found:
            raise trouble
        return found

    async def list_viewers(self, pane: PaneId) -> list[AttachedClient]:
        place = self._components.server_supervisor.locate_pane(pane)
        if place is None:
            return []
        return [client for client in await TmuxPaneControl(place[0].server).list_clients() if client.pane == place[1]]

    async def describe_pane(self, pane: PaneId) -> str:
        try:
            return format_pane_location(await self._panes.get_pane(pane))
        except NotFound:
            return ""
