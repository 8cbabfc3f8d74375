"""Decide who a caller is from what the kernel knows about its process. A caller declares only its interface.

A caller of the command line is a person if its process has a controlling terminal, descends from the leader of that
session, and nothing leads from it to an agent: no ancestor, no variable of the environment, no pane, and no lost parent
that an agent could have been. What cannot be proven makes no person, and `Actor.doubt` says why.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from termvisor.backends.tmux.pane_control import TmuxPaneControl
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.daemon.components import Components
from termvisor.errors import MuxError
from termvisor.model.action.action import Actor, ActorKind, CallerFace
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import LOCAL
from termvisor.protocol.unix_socket import PeerProcess
from termvisor.system import procfs
from termvisor.system.process_origin import OriginProcess, ProcessOrigin, read_cgroup, read_origin
from termvisor.system.tty import find_terminal

AGENT_PROGRAMS = frozenset(
    {"claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "aider", "goose", "amp"}
)
"""Agents run commands in a terminal too, so a caller whose ancestor is one of these programs is not a person."""
AGENT_VARIABLES = (
    *("CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE", "CURSOR_AGENT", "COPILOT_CLI"),
    *("GOOSE_TERMINAL", "AI_AGENT"),
)
"""Variables that agents set for the commands they run."""
_PANE_VARIABLES = ("TMUX", "TMUX_PANE")
_KIND_BY_FACE: dict[CallerFace, ActorKind] = {"robot": "robot", "python": "robot", "web": "robot", "mcp": "mcp"}
"""Interfaces for programs. The others, for people, are used by programs too: there the process decides."""
_MAX_NESTED_SERVERS = 3


class AgentOrigin(Struct, frozen=True, kw_only=True):
    """A running agent, to compare callers with; the first process of its pane if its own is unknown."""

    name: str
    pane: PaneId
    pid: int
    started: int
    socket: str = ""
    mux_pane: str = ""
    tty: str = ""


class CallerDoubt(Struct, frozen=True, kw_only=True):
    """Why a caller does not count as a person. ``orphan`` is the process whose parent is unknown."""

    text: str
    is_agent: bool = False
    orphan: OriginProcess | None = None


def find_doubt(
    origin: ProcessOrigin, agents: Sequence[AgentOrigin], *, uid: int, get_cgroup: Callable[[int], bytes] = read_cgroup
) -> CallerDoubt | None:
    """Return why the process may not be run by a person; None if nothing speaks against it."""
    caller, leader = origin.chain[0], _find_leader(origin)
    if text := _find_agent_sign(origin, agents):
        return CallerDoubt(text=text, is_agent=True)
    if not origin.has_terminal:
        return CallerDoubt(text="its process has no controlling terminal")
    if leader is None and not _is_run_by_init(origin):
        return CallerDoubt(
            text=f"it does not descend from process {caller.session_id}, which leads its terminal session"
        )
    if text := _find_named_pane(origin, leader or caller, agents):
        return CallerDoubt(text=text, is_agent=True)
    orphan = _find_orphan(origin, uid)
    older = [agent for agent in agents if orphan is not None and agent.started < orphan.started]
    # Children inherit the control group: with systemd, other terminal windows have one of their own.
    if orphan is not None and (agent := _find_in_same_group(orphan, older, get_cgroup)) is not None:
        text = f"the parent of {_describe_process(orphan)} is gone, and the agent in pane {agent.pane} is older"
        return CallerDoubt(text=text, orphan=orphan)
    return None


def _describe_process(process: OriginProcess) -> str:
    # A program chooses its own name.
    return f"process {process.pid} ({process.name if process.name.isprintable() else '?'})"


def _find_leader(origin: ProcessOrigin) -> OriginProcess | None:
    session = origin.chain[0].session_id
    return next((process for process in origin.chain if process.pid == session), None)


def _is_run_by_init(origin: ProcessOrigin) -> bool:
    """Return True for a command of the shell that is process 1 of a container."""
    return origin.chain[0].session_id == 1 == origin.chain[-1].parent_pid


def _find_agent_sign(origin: ProcessOrigin, agents: Sequence[AgentOrigin]) -> str:
    running = {(agent.pid, agent.started) for agent in agents}
    for process in origin.chain:
        if process.name in AGENT_PROGRAMS or (process.pid, process.started) in running:
            return f"it was started by an agent, {_describe_process(process)}"
        if name := next((name for name in AGENT_VARIABLES if process.variables.get(name)), ""):
            return f"{name} in the environment of {_describe_process(process)} says that an agent started it"
    return ""


def _find_named_pane(origin: ProcessOrigin, leader: OriginProcess, agents: Sequence[AgentOrigin]) -> str:
    """Return a text if the environment names an agent's pane, but the terminal is another that was opened later."""
    for process in origin.chain[: origin.chain.index(leader) + 1]:
        socket = process.variables.get("TMUX", "").partition(",")[0]
        for agent in agents:
            is_named = (agent.socket, agent.mux_pane) == (socket, process.variables.get("TMUX_PANE"))
            if is_named and agent.tty != origin.tty and leader.started >= agent.started:
                return f"its terminal was opened from pane {agent.pane}, in which {agent.name} runs"
    return ""


def _find_orphan(origin: ProcessOrigin, uid: int) -> OriginProcess | None:
    """Return the topmost process of this user if its parent exited; None for a login, a console or a container."""
    chain = origin.chain
    # systemd's manager of the user's services adopts orphans instead of process 1.
    if len(chain) > 1 and chain[-1].name == "systemd":
        return chain[-2] if chain[-2].uid == uid else None
    is_adopted = chain[-1].parent_pid == 1 and not _is_run_by_init(origin)
    return chain[-1] if is_adopted and chain[-1].uid == uid else None


def _find_in_same_group(
    orphan: OriginProcess, agents: Iterable[AgentOrigin], get_cgroup: Callable[[int], bytes]
) -> AgentOrigin | None:
    group = get_cgroup(orphan.pid)
    return next((agent for agent in agents if get_cgroup(agent.pid) in (group, b"")), None)


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
        origin = read_origin(pid, (*AGENT_VARIABLES, *_PANE_VARIABLES))
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
                ttys = {client.tty for client in await TmuxPaneControl(watcher.server).list_clients()}
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
        return list(self._components.server_supervisor.watchers.values())
