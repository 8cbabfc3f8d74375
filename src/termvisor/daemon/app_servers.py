"""The app-servers of Codex: one is listened to for every home in which a Codex lives, and only so long.

What speaks with them is loaded with the first Codex; most daemons never need it.
"""

import asyncio
from typing import TYPE_CHECKING

from termvisor.agents.base import Process
from termvisor.clock import Clock
from termvisor.ingest.agents.elsewhere import Elsewhere
from termvisor.ingest.agents.foreground import began_at
from termvisor.model.ids import RuntimeId
from termvisor.model.runtime import Runtime
from termvisor.model.session import SourceHealth

if TYPE_CHECKING:
    from termvisor.agents.codex.threads import Face
    from termvisor.ingest.agents.app_server import AppServer, Heard
    from termvisor.ingest.agents.thread_line import ThreadLine

AGENT = "codex"


class AppServers:
    """``heard`` returns when the records are stored."""

    def __init__(self, heard: "Heard", clock: Clock, elsewhere: Elsewhere | None = None):
        self._heard, self._clock, self._elsewhere = heard, clock, elsewhere
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
            self.servers[home].others = lambda: self._others(home)
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

    def serves(self, runtime: Runtime) -> bool:
        """Whether a server is expected to know it, though it may not be heard yet."""
        return runtime.id in self._faces

    def line_of(self, runtime: Runtime) -> "ThreadLine | None":
        """A way to speak in the thread that this Codex shows; None where that is not proven right now."""
        home, _ = self._faces.get(runtime.id, ("", None))
        server = self.servers.get(home)
        thread = server.thread_of(runtime.pid) if server is not None else ""
        if server is None or not thread:
            return None
        from termvisor.ingest.agents.thread_line import ThreadLine

        return ThreadLine(server, thread)

    def health(self) -> list[SourceHealth]:
        return [server.health for server in self.servers.values()]

    def _start(self, home: str) -> None:
        if self._group is not None:
            self._tasks[home] = self._group.create_task(self.servers[home].run())

    async def _others(self, home: str) -> "list[Face]":
        """Those of the same home that live in no pane of ours."""
        from termvisor.agents.codex.recognise import home_of
        from termvisor.agents.codex.threads import Face

        if self._elsewhere is None:
            return []
        found = await self._elsewhere.beside(AGENT, [face.process.pid for _, face in self._faces.values()])
        now = self._clock.now()
        return [Face(one, began_at(one.pid_started, now), is_elsewhere=True) for one in found if home_of(one) == home]

    def _living(self, home: str) -> "list[Face]":
        return [face for where, face in self._faces.values() if where == home]
