"""Server: how an agent with a server of its own is heard by it, and spoken to. A module `served` beside its adapter.

    Host      is the module itself: which server a process uses, and a way in
    Server    one of them, for as long as a process of the agent lives that uses it
    Line      one conversation in it, which is the gate's alone

Whoever holds a Server connects it again, tells its health, masks secrets, and stores what it says. So a Server only
converses: it says what it hears as records, with the process that each is proven to be about, and guesses nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.dialog_options import Decision
from termvisor.clock import Clock

ProcessKey = tuple[int, int]
"""A pid and its start."""


class ServedAgent(Struct, frozen=True):
    """A living agent, and when its process started."""

    process: ProcessInfo
    started_at: int
    is_unwatched: bool = False
    """It works in no pane that we watch."""

    @property
    def process_key(self) -> ProcessKey:
        return self.process.pid, self.process.pid_started


class PermissionRequest(Struct, frozen=True, kw_only=True):
    """A permission that an agent waits for."""

    id: str
    """The server's own name for it; no two that wait at once have the same."""
    tool: str
    command: str = ""
    given: str = ""
    """Whatever else it tells of it, as JSON."""
    cwd: str = ""


class SessionControl(Protocol):
    """One conversation of one agent. Raises ``Unavailable`` or ``TimedOut`` where it cannot be said what came of it."""

    session: str
    """The agent's own name for it; empty where there is none yet."""

    def wait_for_request(self, known_ids: Collection[str] = ()) -> AbstractAsyncContextManager[PermissionRequest]:
        """What waits for a yes or a no and is none of those, heard for as long as it is held.

        Raises ``TimedOut`` where nothing does.
        """

    async def answer_request(self, permission_request: PermissionRequest, decision: Decision) -> bool:
        """Say it to exactly this one, this once. False where it waits no longer, or was answered by us before."""

    async def wait_until_answered(self, permission_request: PermissionRequest) -> bool:
        """Whether it was answered, by anybody; False when the server cannot be heard any more."""

    def can_prompt(self, pane_title: str) -> bool:
        """Whether it is sure which conversation a pane with this title shows."""

    async def send_prompt(self, prompt_text: str, pane_title: str) -> bool:
        """Whether they were seen to begin a turn. Raises ``BadRequest`` where they were refused."""

    async def stop_turn(self) -> bool | None:
        """Whether what it was at was seen to end; None where it is at nothing that could be stopped so."""


class AgentServer(Protocol):
    """One server of one agent program."""

    location: str
    """For a person."""

    async def find_absence_reason(self) -> str:
        """Why there is nobody to connect to right now, in words for a person; empty where there is."""

    async def run_connection(self, group: asyncio.TaskGroup) -> None:
        """One connection, from its beginning to its end, which is raised. What it must do beside it, it does there."""

    def build_lost_records(self) -> Sequence[SourceRecord]:
        """What is to be told of everybody who was told of, now that nothing is heard any more."""

    def refresh(self) -> None:
        """Another process lives that uses it, or one less."""

    def find_session_control(self, process: ProcessInfo) -> SessionControl | None:
        """The conversation that the pane of this process is proven to show; None where that is not proven now."""


class ServerDependencies(Struct, frozen=True, kw_only=True):
    """What a Server is given. Whatever it says goes out by these, and nothing else does."""

    clock: Clock
    store_records: Callable[[Sequence[SourceRecord]], Awaitable[None]]
    """Returns when the records are stored."""
    report_health: Callable[[str, float | None], None]
    """It is heard: what a person should know all the same, and how many seconds late its words come."""
    list_agents: Callable[[], Sequence[ServedAgent]]
    """The processes in our panes that use it."""
    list_unwatched_agents: Callable[[], Awaitable[Sequence[ServedAgent]]]
    """Those that use it and live elsewhere."""
    list_ports: Callable[[ProcessInfo], Awaitable[Sequence[int]]]
    """The TCP ports of this machine at which that very process listens."""


class ServerProvider(Protocol):
    """Which server a process of the agent uses, and a way in."""

    source: str
    """The adapter's source in which it speaks."""

    def get_server_key(self, process: ProcessInfo) -> str:
        """Processes with the same place share one server; empty where this one has none."""

    def create_server(self, server_key: str, dependencies: ServerDependencies) -> AgentServer:
        """The one at that place. Nothing is done yet."""
