"""Decide who a caller is from what the kernel knows about its process. A caller declares only its interface.

`system.process_origin` judges the process; here it is compared with the running agents, and a process below a server
of tmux with the people attached to that. `Actor.doubt` says why a caller is no person.
"""

import os
from contextlib import suppress

from termvisor.capture.server_watcher import ServerWatcher
from termvisor.daemon.components import Components
from termvisor.errors import MuxError
from termvisor.model.action.action import Actor, ActorKind, CallerFace
from termvisor.model.ids import PaneId
from termvisor.model.terminal.target import LOCAL
from termvisor.protocol.unix_socket import PeerProcess
from termvisor.system import procfs
from termvisor.system.process_origin import (
    ORIGIN_VARIABLES,
    AgentOrigin,
    CallerDoubt,
    OriginProcess,
    find_doubt,
    read_origin,
)
from termvisor.system.tty import find_terminal

_KIND_BY_FACE: dict[CallerFace, ActorKind] = {"robot": "robot", "python": "robot", "web": "robot", "mcp": "mcp"}
"""Interfaces for programs. The others, for people, are used by programs too: there the process decides."""
_MAX_NESTED_SERVERS = 3


class CallerIdentifier:
    """Identifies the process at the other end of a connection."""

    def __init__(self, components: Components):
        self._components = components

    async def identify(self, face: CallerFace, peer: PeerProcess) -> Actor:
        """Return the caller as the kernel shows it, without its pane."""
        if (kind := _KIND_BY_FACE.get(face)) is not None:
            doubt = f"the interface `{face}` is for programs"
            return Actor(kind=kind, uid=peer.uid, pid=peer.pid, face=face, doubt=doubt)
        found = await self._find_doubt(peer.pid, peer.started)
        kind = "human" if found is None else "agent" if found.is_agent else "robot"
        return Actor(kind=kind, uid=peer.uid, pid=peer.pid, face=face, doubt=found.text if found else "")

    def find_pane(self, pid: int) -> PaneId | None:
        """Return the pane that a process runs in: by its terminal, else by the pane's process among its ancestors."""
        panes = [pane for watcher in self._watchers for pane in watcher.known_panes.values()]
        tty = find_terminal(pid)
        if (found := next((pane.id for pane in panes if tty and pane.facts.tty == tty), None)) is not None:
            return found
        # An agent runs its commands without a terminal, or in one of its own.
        origin = read_origin(pid, ())
        ids = {pane.facts.pid: pane.id for pane in panes}
        return next((ids[process.pid] for process in (origin.chain if origin else ()) if process.pid in ids), None)

    async def _find_doubt(self, pid: int, started: int, depth: int = 0) -> CallerDoubt | None:
        origin = read_origin(pid, ORIGIN_VARIABLES)
        # Another start time: the process has exited, and its number belongs to another one.
        if origin is None or origin.chain[0].started != started:
            return CallerDoubt(text="its process has exited or cannot be read")
        doubt = find_doubt(origin, self._list_agents(), uid=os.getuid())
        if doubt is None or doubt.orphan is None or depth >= _MAX_NESTED_SERVERS:
            return doubt
        return None if await self._has_person_attached(doubt.orphan, depth) else doubt

    async def _has_person_attached(self, server: OriginProcess, depth: int) -> bool:
        """Return True if the process is a watched server of tmux, and a person's terminal is attached to it."""
        for watcher in self._watchers:
            instance = watcher.server.instance if watcher.has_started else None
            if instance is None or (instance.pid, instance.started) != (server.pid, server.started):
                continue
            with suppress(MuxError):  # the server does not answer, so nothing is proven
                attached = await watcher.backend.build_control(watcher.server).list_clients()
                ttys = {client.tty for client in attached}
                clients = [one for one in procfs.list_processes() if one.name.startswith("tmux: client")]
                for client in clients:
                    if find_terminal(client.pid) in ttys and not await self._find_doubt(
                        client.pid, client.started, depth + 1
                    ):
                        return True
        return False

    def _list_agents(self) -> list[AgentOrigin]:
        facts = {pane.id: pane.facts for watcher in self._watchers for pane in watcher.known_panes.values()}
        return [
            AgentOrigin(
                name=process.agent,
                pane=pane,
                pid=process.pid or facts[pane].pid,
                started=process.pid_started if process.pid else facts[pane].pid_started,
                socket=process.place.socket,
                mux_pane=process.place.mux_pane,
                tty=facts[pane].tty,
            )
            for pane, process in self._components.agent_tracking.tracker.agents_by_pane.items()
            if process.place.target == LOCAL.name and pane in facts
        ]

    @property
    def _watchers(self) -> list[ServerWatcher]:
        # A terminal or process of another machine may have the name or number of one here.
        watchers = self._components.server_supervisor.watchers.values()
        return [watcher for watcher in watchers if watcher.transport.target.kind == LOCAL.kind]
