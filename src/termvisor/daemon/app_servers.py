"""The app-servers of Codex: one is listened to for every home in which a Codex lives, and only so long.

What speaks with them is loaded with the first Codex; most daemons never need it.
"""

import asyncio
from typing import TYPE_CHECKING

from termvisor.agents.base import Process
from termvisor.clock import Clock
from termvisor.model.ids import RuntimeId
from termvisor.model.runtime import Runtime
from termvisor.model.session import SourceHealth

if TYPE_CHECKING:
    from termvisor.agents.codex.threads import Face
    from termvisor.ingest.agents.app_server import AppServer, Heard

AGENT = "codex"


class AppServers:
    """``heard`` returns when the records are stored."""

    def __init__(self, heard: "Heard", clock: Clock):
        self._heard, self._clock = heard, clock
        self._faces: dict[RuntimeId, tuple[str, Face]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.servers: dict[str, AppServer] = {}
        """By the home that they serve."""

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as self._group:
            for home in self.servers:
                self._start(home)
            await asyncio.Event().wait()

    def follow(self, runtime: Runtime, process: Process) -> None:
        if runtime.agent != AGENT:
            return
        from termvisor.agents.codex.recognise import home_of
        from termvisor.agents.codex.threads import Face
        from termvisor.ingest.agents.app_server import AppServer

        home = home_of(process)
        self._faces[runtime.id] = home, Face(process, runtime.started_at)
        if home not in self.servers:
            self.servers[home] = AppServer(home, self._heard, lambda: self._living(home), self._clock)
            self._start(home)
        self.servers[home].look_again()

    def leave(self, runtime: Runtime) -> None:
        home, _ = self._faces.pop(runtime.id, ("", None))
        if home and self._living(home):
            self.servers[home].look_again()
        elif home:
            del self.servers[home]
            if task := self._tasks.pop(home, None):
                task.cancel()

    def health(self) -> list[SourceHealth]:
        return [server.health for server in self.servers.values()]

    def _start(self, home: str) -> None:
        if self._group is not None:
            self._tasks[home] = self._group.create_task(self.servers[home].run())

    def _living(self, home: str) -> "list[Face]":
        return [face for where, face in self._faces.values() if where == home]
