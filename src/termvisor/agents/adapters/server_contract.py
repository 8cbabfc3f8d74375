"""The contract for agents that have their own server: the package `server_client` beside the adapter implements it.

    ServerProvider   the package itself: which server a process uses, and how to connect to it
    AgentServer      one server, while a process of the agent uses it
    SessionControl   one session on it, for the gate only

`agents/sources/agent_servers.py` owns an AgentServer: it reconnects, reports health, redacts and stores records.
An AgentServer only turns messages into records, each with the process it provably belongs to; it never guesses.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.keyboard import Decision
from termvisor.clock import Clock

ProcessKey = tuple[int, int]
"""Pid and start time."""


class ServedAgent(Struct, frozen=True):
    """A running agent process and its start time in nanoseconds since 1970."""

    process: ProcessInfo
    started_at: int
    is_unwatched: bool = False
    """True if it runs outside the observed panes."""

    @property
    def process_key(self) -> ProcessKey:
        return self.process.pid, self.process.pid_started


class PermissionRequest(Struct, frozen=True, kw_only=True):
    """A permission request that an agent is waiting on."""

    id: str
    """The server's id, unique among pending requests."""
    tool: str
    command: str = ""
    given: str = ""
    """All other fields of the request, as JSON."""
    cwd: str = ""
    session: str = ""
    """The session that asks; empty if the server does not tell, and then it is that of the `SessionControl`."""


class SessionControl(Protocol):
    """Control of one session of an agent. Methods raise ``Unavailable`` or ``TimedOut`` if the outcome is unknown."""

    session: str
    """The agent's session id; empty if it has none yet."""

    def wait_for_request(self, known_ids: Collection[str] = ()) -> AbstractAsyncContextManager[PermissionRequest]:
        """Yield a pending permission request that is not in ``known_ids``, and follow it while the context is open.

        Raises ``TimedOut`` if none is pending.
        """

    async def answer_request(self, permission_request: PermissionRequest, decision: Decision) -> bool:
        """Answer exactly this request, once. Returns False if it is no longer pending or was answered before."""

    async def wait_until_answered(self, permission_request: PermissionRequest) -> bool:
        """Wait and return True when any client has answered the request, or False if the connection is lost."""

    def can_prompt(self, pane_title: str) -> bool:
        """Return True if it is certain which session a pane with this title shows."""

    async def send_prompt(self, prompt_text: str, pane_title: str) -> bool:
        """Send a prompt; return True if it started a turn. Raises ``BadRequest`` if the server rejects it."""

    async def stop_turn(self) -> bool | None:
        """Interrupt the running turn; return True if it ended. None if there is no turn that can be interrupted."""


class AgentServer(Protocol):
    """One server of one agent program."""

    location: str
    """Its address, for messages to the user."""

    async def find_absence_reason(self) -> str:
        """Return why there is no server to connect to, for the user; empty if there is one."""

    async def run_connection(self, group: asyncio.TaskGroup) -> None:
        """Run one connection until it ends, and raise the error that ended it. Background tasks belong in ``group``."""

    def build_lost_records(self) -> Sequence[SourceRecord]:
        """Return the records that mark every reported agent as unknown after the connection was lost."""

    def refresh(self) -> None:
        """React to a change in the set of processes that use this server."""

    def find_session_control(self, process: ProcessInfo) -> SessionControl | None:
        """Return the session that the pane of this process provably shows; None if there is no proof."""


class ServerDependencies(Struct, frozen=True, kw_only=True):
    """The services that an AgentServer may use."""

    clock: Clock
    store_records: Callable[[Sequence[SourceRecord]], Awaitable[None]]
    """Returns when the records are stored."""
    report_health: Callable[[str, float | None], None]
    """Report a working connection: a warning for the user or an empty text, and its lag in seconds."""
    list_agents: Callable[[], Sequence[ServedAgent]]
    """The processes in observed panes that use this server."""
    list_unwatched_agents: Callable[[], Awaitable[Sequence[ServedAgent]]]
    """The processes outside observed panes that use this server."""
    list_ports: Callable[[ProcessInfo], Awaitable[Sequence[int]]]
    """The local TCP ports on which exactly this process listens."""


class ServerProvider(Protocol):
    """Finds and creates the servers of one agent program."""

    source: str
    """Name of the adapter's evidence source that the server's records belong to."""

    def get_server_key(self, process: ProcessInfo) -> str:
        """Return the key of the process's server; empty if it has none. Processes with the same key share a server."""

    def create_server(self, server_key: str, dependencies: ServerDependencies) -> AgentServer:
        """Create the server with this key without connecting to it."""
