"""Give the gate access to panes: snapshots before an action, pane control, foreground signals, attached clients."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping

from msgspec.structs import replace

from termvisor.actions.attempt import format_pane_location
from termvisor.actions.job_input import JobControl
from termvisor.actions.pane_snapshot import AllowCallback, PaneAgent, PaneForeground, PaneOpener, PaneSnapshot
from termvisor.actions.permission_requests import PendingRequests
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS
from termvisor.agents.state.source_slots import find_last_dialog_time, has_turn_started
from termvisor.backends.backend import Backend
from termvisor.backends.pane_control import AttachedClient, PaneControl
from termvisor.backends.pane_terminal import PaneTerminal, SignalName
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.clock import NS
from termvisor.daemon.acting.server_launch import LaunchingPaneOpener, find_server_launch
from termvisor.daemon.acting.spawn_gate import CapturedPaneControl
from termvisor.daemon.components import Components
from termvisor.errors import (
    AmbiguousReference,
    Conflict,
    MuxError,
    NotFound,
    ObjectNotFound,
    StaleSnapshot,
    Unavailable,
)
from termvisor.model.action.action import Release, Reserve, Spawn
from termvisor.model.action.approval import Reservation
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from termvisor.model.terminal.pane import InputState, PaneActivity, PaneFacts, PaneView

FindPane = Callable[[PaneId], Awaitable[PaneView | None]]
_PANE_GONE = "pane {} no longer exists"


class LivePaneAccess:
    """Access to panes that reads every value from the multiplexer when called; nothing is cached between actions."""

    def __init__(self, components: Components, find_pane: FindPane):
        self._components, self._find_pane = components, find_pane
        self.permission_requests = PendingRequests(components.clock.monotonic)

    async def get_pane(self, pane: PaneId) -> PaneView:
        view = await self._find_pane(pane)
        if view is None or view.gone_at is not None:
            raise NotFound(_PANE_GONE.format(pane))
        return view

    async def take_snapshot(self, pane: PaneId, preconditions: Preconditions) -> PaneSnapshot:
        """Read the state of a pane from the multiplexer and, once all captured output is stored, from the store.

        Raises NotFound if the pane does not exist.
        """
        components, now = self._components, self._components.clock.now()
        watcher, mux_id = self._locate_pane(pane)
        # Run in parallel, because every action waits for all three.
        pane_state, view, reservation = await asyncio.gather(
            watcher.backend.build_control(watcher.server).read_pane_state(mux_id),
            self._settle_and_view(pane),
            components.store.reservations.find_for_pane(pane, now),
        )
        if pane_state is None:
            raise NotFound(_PANE_GONE.format(pane))
        has_tail, limit = preconditions.tail is not None, preconditions.tail_lines
        lines = await components.pipeline.lines.read(pane, limit=limit) if has_tail else []
        reader, session_control = components.pipeline.current_readers.get(pane), self.get_session_control(pane)
        undoes, facts = preconditions.undoes, replace(view.facts, pid=pane_state.pid)
        terminal = watcher.backend.build_terminal(watcher.server)
        state = await terminal.read_state(facts)
        shell = reader.shells.commands_state.shells.shell if reader else ""
        activity = await _check_proof(terminal, facts, view.activity, shell)
        return PaneSnapshot(
            view=replace(view, activity=activity),
            pane_state=pane_state,
            input_place=reader.shells.activity_state.place if reader else InputState(),
            observed_at=now,
            foreground=PaneForeground(state.foreground_group, state.is_shell_reading) if state else PaneForeground(),
            is_in_gap=reader is None,
            is_ready=preconditions.is_ready and await self._is_ready(pane),
            tail=tuple(line.text for line in lines),
            reservation=reservation,
            agent=self.find_agent(pane),
            shell=shell if activity.kind == "prompt" and activity.is_proven else "",
            has_agent_server=session_control is not None,
            takes_prompts=session_control is not None and session_control.can_prompt(pane_state.title),
            undo_target=undoes,
            child_count=await terminal.count_children(facts) if undoes and undoes.is_alone else None,
        )

    async def _settle_and_view(self, pane: PaneId) -> PaneView:
        # The last output may not be stored yet, and it determines whether the shell is at its prompt.
        await self._components.pipeline.wait_settled(pane)
        return await self.get_pane(pane)

    def find_agent(self, pane: PaneId) -> PaneAgent | None:
        tracker = self._components.agent_tracking.tracker
        agent_process = tracker.find_agent_in_pane(pane)
        if agent_process is None:
            return None
        projection, session = tracker.get_projection(agent_process.id), tracker.get_session(agent_process.id)
        state = projection.state if projection is not None else None
        slots = tracker.state.knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS)
        return PaneAgent(
            name=agent_process.agent,
            runtime=agent_process.id,
            pid=agent_process.pid,
            state=state.value if state is not None else "unknown",
            has_shown_dialog=state is not None and find_last_dialog_time(slots) >= (state.since or 1),
            session=session.external_id if session is not None else "",
        )

    def get_session_control(self, pane: PaneId) -> SessionControl | None:
        agent_process = self._components.agent_tracking.tracker.find_agent_in_pane(pane)
        servers = self._components.agent_tracking.servers
        return None if agent_process is None else servers.find_session_control(agent_process)

    def has_exited(self, runtime: RuntimeId) -> bool:
        running = self._components.agent_tracking.tracker.agents_by_pane.values()
        return all(agent_process.id != runtime for agent_process in running)

    def find_allow_callback(self, request: str) -> AllowCallback | None:
        return self.permission_requests.find_allow_callback(request)

    def get_control(self, pane: PaneId) -> PaneControl:
        return self._build_control(self._locate_pane(pane)[0])

    def _build_control(self, watcher: ServerWatcher) -> CapturedPaneControl:
        return CapturedPaneControl(watcher, self._components.event_log.events, self._components.paths.runtime_dir)

    def _locate_pane(self, pane: PaneId) -> tuple[ServerWatcher, MuxPaneId]:
        location = self._components.server_supervisor.locate_pane(pane)
        if location is None:
            raise NotFound(_PANE_GONE.format(pane))
        return location

    async def get_pane_opener(self, spawn: Spawn) -> PaneOpener:
        found = await self._find_server_or_launch(spawn)
        return self._build_control(found) if isinstance(found, ServerWatcher) else found

    async def find_server(self, spawn: Spawn) -> ServerWatcher:
        """Return the watcher of the server that an action names, or of the only one. Raises NotFound."""
        found = await self._find_server_or_launch(spawn)
        if not isinstance(found, ServerWatcher):
            raise ObjectNotFound("no tmux server is running", hint="Start one with `tmux new -d`.")
        return found

    async def _find_server_or_launch(self, spawn: Spawn) -> ServerWatcher | LaunchingPaneOpener:
        socket = spawn.server
        await self._components.server_supervisor.first_scan_done.wait()
        if spawn.place:
            await self._start_own_server(spawn)
        running = self._list_running(spawn)
        matches = self._choose_unnamed(running) if not socket else _choose_named(running, socket)
        if not matches:
            components = self._components
            launch = await find_server_launch(components.server_supervisor, spawn)
            if launch is not None:
                return LaunchingPaneOpener(
                    launch, components.server_supervisor, components.event_log.events, components.paths.runtime_dir
                )
            labels = [watcher.key.label for watcher in running]
            hint = f"Running: {', '.join(labels)}." if labels else "Start one with `tmux new -d`."
            raise ObjectNotFound(f"no tmux server {socket or 'is running'}".strip(), hint=hint)
        # Of several servers one must be named: a guess could start a program on the wrong one.
        if len(matches) > 1:
            sockets = [watcher.key.label for watcher in matches]
            raise AmbiguousReference(
                f"{len(matches)} tmux servers are running",
                hint=f"Name one: `--server {os.path.basename(sockets[0])}`.",
                details={"candidates": sockets},
            )
        return matches[0]

    def _list_running(self, spawn: Spawn) -> list[ServerWatcher]:
        return [
            watcher
            for watcher in self._components.server_supervisor.watchers.values()
            if watcher.has_started and watcher.key.target == spawn.target and _is_place(watcher.backend, spawn.place)
        ]

    def _choose_unnamed(self, running: list[ServerWatcher]) -> list[ServerWatcher]:
        """Return the servers that may be meant when none is named: never the private one of jobs.

        The demo is for trying things out: a program belongs on the user's own server, if there is one.
        """
        paths = self._components.paths
        public = [watcher for watcher in running if watcher.key.address != paths.job_socket]
        return [watcher for watcher in public if watcher.key.address != paths.demo_socket] or public

    def get_job_control(self) -> JobControl:
        return self._components.jobs

    async def _start_own_server(self, spawn: Spawn) -> None:
        """Start the server of the place, if it is one that the daemon starts. Raises Unavailable."""
        try:
            await self._components.server_supervisor.start_server(spawn.place, TargetName(spawn.target))
        except TimeoutError as error:
            raise Unavailable(f"the {spawn.place} server was started but is not watched yet") from error

    async def send_signal(self, snapshot: PaneSnapshot, name: SignalName) -> int:
        """Signal the foreground process group of the pane and return its id.

        Raises StaleSnapshot if the pane now has another process, or only its shell is in the foreground.
        """
        facts, watcher = snapshot.view.facts, self._locate_pane(snapshot.view.id)[0]
        terminal = watcher.backend.build_terminal(watcher.server)
        if not await terminal.is_same_process(facts):
            raise StaleSnapshot("nothing was done: another process runs in the pane", details={"why": "stale_pid"})
        foreground = await terminal.read_state(facts)
        if foreground is None or foreground.is_pane_process:
            raise StaleSnapshot(
                "nothing was done: no program runs in the foreground of the pane's shell",
                hint="`--pane` closes the pane itself.",
                details={"why": "nothing_in_foreground"},
            )
        if not await terminal.send_signal(facts, foreground.foreground_group, name):
            raise StaleSnapshot("nothing was done: the program has just exited", details={"why": "pane_dead"})
        return foreground.foreground_group

    async def reserve(self, action: Reserve) -> tuple[Reservation, bool]:
        """Reserve the pane; return the reservation and True if it is new.

        Raises Conflict if the pane is reserved by another owner.
        """
        now = self._components.clock.now()
        expires_at = now + int(action.seconds * NS)
        reservation = Reservation(pane=action.pane, owner=action.owner, at=now, expires_at=expires_at)
        held = await self._components.store.reservations.hold(reservation)
        if held.owner != action.owner:
            raise Conflict(f"pane {action.pane} is reserved by {held.owner}", details={"reservation": held.id})
        return held, held.at == now

    async def release(self, action: Release) -> None:
        if not await self._components.store.reservations.release(action.reservation, self._components.clock.now()):
            text = f"nothing was done: reservation {action.reservation} is no longer active"
            raise StaleSnapshot(text, details={"why": "not_reserved"})

    def get_command_times(self, pane: PaneId) -> Mapping[str, int]:
        reader = self._components.pipeline.current_readers.get(pane)
        return reader.shells.command_times if reader else {}

    def has_turn_started(self, pane: PaneId, since: int) -> bool:
        tracker = self._components.agent_tracking.tracker
        agent_process = tracker.find_agent_in_pane(pane)
        if agent_process is None:
            return False
        slots = tracker.state.knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS)
        return has_turn_started(slots, agent_process.agent, since, tracker.config.thresholds)

    async def count_read_bytes(self, pane: PaneId, pid: int) -> int | None:
        found = self._find_terminal(pane)
        return None if found is None else await found[0].count_read_bytes(found[1], pid)

    async def find_foreground_group(self, pane: PaneId) -> int:
        found = self._find_terminal(pane)
        return 0 if found is None else await found[0].find_foreground_group(found[1])

    async def count_unread_bytes(self, pane: PaneId) -> int | None:
        found = self._find_terminal(pane)
        return None if found is None else await found[0].count_unread_bytes(found[1])

    async def is_busy(self, pane: PaneId) -> bool:
        found = self._find_terminal(pane)
        return found is not None and await found[0].is_busy(found[1])

    def _find_terminal(self, pane: PaneId) -> tuple[PaneTerminal, PaneFacts] | None:
        location = self._components.server_supervisor.locate_pane(pane)
        if location is None:
            return None
        watcher, mux_id = location
        return watcher.backend.build_terminal(watcher.server), watcher.known_panes[mux_id].facts

    async def find_last_command_line(self, pane: PaneId, since: int) -> str | None:
        commands = await self._components.store.commands.list(pane=pane, since=since, limit=1)
        return commands[0].line if commands and commands[0].is_proven else None

    async def _is_ready(self, pane: PaneId) -> bool:
        """Return True if the pane set the `ready` user variable since its last command started."""
        last = await self._components.store.commands.find(pane, "last")
        events = await self._components.store.events.list(pane=pane, since=last.started_at if last else None, limit=200)
        return any(event.kind == "user_var" and event.data.get("kind") == "ready" for event in events)

    async def list_clients(self) -> list[AttachedClient]:
        """Return the attached clients of all servers; raise MuxError only if no server answers."""
        supervisor = self._components.server_supervisor
        await supervisor.first_scan_done.wait()
        clients: list[AttachedClient] = []
        failure: MuxError | None = None
        for watcher in [watcher for watcher in supervisor.watchers.values() if watcher.has_started]:
            try:
                clients += await watcher.backend.build_control(watcher.server).list_clients()
            except MuxError as error:
                failure = error  # one server that hangs must not hide the clients of the others
        if failure is not None and not clients:
            raise failure
        return clients

    async def list_viewers(self, pane: PaneId) -> list[AttachedClient]:
        location = self._components.server_supervisor.locate_pane(pane)
        if location is None:
            return []
        watcher, mux_id = location
        clients = await watcher.backend.build_control(watcher.server).list_clients()
        return [client for client in clients if client.pane == mux_id]

    async def describe_pane(self, pane: PaneId) -> str:
        try:
            return format_pane_location(await self.get_pane(pane))
        except NotFound:
            return ""


def _choose_named(running: list[ServerWatcher], name: str) -> list[ServerWatcher]:
    keys = [(watcher, watcher.key) for watcher in running]
    return [watcher for watcher, key in keys if name in (key.label, key.address, os.path.basename(key.address))]


def _is_place(backend: Backend, place: str) -> bool:
    """Return True if panes for this place (empty: not named) are opened by the backend."""
    abilities = backend.abilities
    return abilities.spawns and (backend.name == place if place else abilities.is_default_place)


async def _check_proof(terminal: PaneTerminal, facts: PaneFacts, activity: PaneActivity, shell: str) -> PaneActivity:
    """Return the activity, unproven if the shell that a prompt names (``aid=``) is not in the foreground.

    Every program of the user can read the nonce, so the nonce alone does not prove who printed a prompt.
    """
    if activity.kind != "prompt" or (shell.isdecimal() and await terminal.is_in_foreground(facts, int(shell))):
        return activity
    return replace(activity, is_proven=False)
