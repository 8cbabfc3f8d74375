"""Read where a process comes from, and judge whether a person runs it.

A process is run by a person if it has a controlling terminal, descends from the leader of that session, and nothing
leads from it to an agent: no ancestor, no variable of the environment, no pane, and no lost parent that an agent could
have been. Reading never raises; what cannot be read or proven makes no person.
"""

import os
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from termvisor.model.ids import PaneId
from termvisor.system import procfs
from termvisor.system.tty import find_terminal

_MAX_ANCESTORS = 64
"""A cycle of parents cannot happen, but pids may be reused while they are read."""
AGENT_PROGRAMS = frozenset(
    {"claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "aider", "goose", "amp"}
)
"""Agents run commands in a terminal too, so a caller whose ancestor is one of these programs is not a person."""
AGENT_VARIABLES = (
    *("CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE", "CURSOR_AGENT", "COPILOT_CLI"),
    *("GOOSE_TERMINAL", "AI_AGENT"),
)
"""Variables that agents set for the commands they run."""
ORIGIN_VARIABLES = (*AGENT_VARIABLES, "TMUX", "TMUX_PANE")
"""The variables of a process and its ancestors that `find_doubt` compares."""


class OriginProcess(Struct, frozen=True, kw_only=True):
    """One process of a chain of ancestors. ``variables`` are those variables of its environment that were asked for."""

    pid: int
    parent_pid: int
    session_id: int
    started: int
    name: str
    uid: int
    variables: dict[str, str] = {}


class ProcessOrigin(Struct, frozen=True, kw_only=True):
    """A process with its ancestors, nearest first and without process 1, and its controlling terminal."""

    chain: tuple[OriginProcess, ...]
    has_terminal: bool
    tty: str = ""
    """Path of a terminal of a multiplexer, terminal window or ssh; empty for a console."""


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


def read_origin(pid: int, variables: Iterable[str]) -> ProcessOrigin | None:
    """Return the origin of a process; None if it has exited or cannot be read."""
    names, chain, next_pid = tuple(variables), list[OriginProcess](), pid
    while next_pid > 1 and len(chain) < _MAX_ANCESTORS and (process := procfs.read_process(next_pid)) is not None:
        chain.append(
            OriginProcess(
                pid=process.pid,
                parent_pid=process.parent_pid,
                session_id=process.session_id,
                started=process.started,
                name=process.name,
                uid=_read_uid(next_pid),
                variables=procfs.read_environment(next_pid, names),
            )
        )
        next_pid = process.parent_pid
    if not chain:
        return None
    return ProcessOrigin(chain=tuple(chain), has_terminal=procfs.has_terminal(pid), tty=find_terminal(pid))


def read_cgroup(pid: int) -> bytes:
    """Return the control groups of a process, which its children inherit; empty if they cannot be read."""
    return procfs.read_file(f"/proc/{pid}/cgroup")


def _read_uid(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:  # it has exited
        return -1


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
