"""The agents' own servers: each is listened to while an agent lives that uses it, and only so long.

Which agent has one, the module `served` beside its adapter says. It is loaded with the first process of that agent;
most daemons never need any.
"""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.server_contract import Face, Host, Line
from termvisor.agents.sources.server_connection import Heard, ServerEar, Surroundings
from termvisor.agents.sources.unwatched_agents import Elsewhere
from termvisor.clock import Clock
from termvisor.log import logger
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.session import SourceHealth
from termvisor.model.ids import RuntimeId
from termvisor.system.foreground_process import began_at

Place = tuple[str, str]
"""An agent, and where its server is."""
HostOf = Callable[[str], Host | None]
log = logger("agents")


class _Guest(Struct, frozen=True):
    place: Place
    face: Face


class AgentServers:
    """``heard`` returns when the records are stored; ``host_of`` names an agent's servers, if it has any."""

    def __init__(self, heard: Heard, clock: Clock, host_of: HostOf, elsewhere: Elsewhere | None = None):
        self._heard, self._clock, self._host_of, self._elsewhere = heard, clock, host_of, elsewhere
        self._guests: dict[RuntimeId, _Guest] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[Place, asyncio.Task[None]] = {}
        self.ears: dict[Place, ServerEar] = {}

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as self._group:
            for place in self.ears:
                self._start(place)
            await asyncio.Event().wait()

    def follow(self, runtime: Runtime, process: Process) -> None:
        place = self._place_of(runtime.agent, process)
        host = self._host_of(runtime.agent) if place is not None else None
        if place is None or host is None:
            return
        self._guests[runtime.id] = _Guest(place, Face(process, runtime.started_at))
        if place not in self.ears:
            self.ears[place] = ServerEar(*place, host, self._around(place))
            self._start(place)
        self.ears[place].look_again()

    def leave(self, runtime: Runtime) -> None:
        guest = self._guests.pop(runtime.id, None)
        if guest is None:
            return
        if self._living(guest.place):
            self.ears[guest.place].look_again()
            return
        del self.ears[guest.place]
        if task := self._tasks.pop(guest.place, None):
            task.cancel()

    def serves(self, runtime: Runtime) -> bool:
        """Whether a server is expected to know it, though it may not be heard yet."""
        return runtime.id in self._guests

    def line_of(self, runtime: Runtime) -> Line | None:
        """A way to speak in the conversation that this agent shows; None where that is not proven right now."""
        guest = self._guests.get(runtime.id)
        return None if guest is None else self.ears[guest.place].server.line(guest.face.process)

    def health(self) -> list[SourceHealth]:
        return [ear.health for ear in self.ears.values()]

    def _start(self, place: Place) -> None:
        if self._group is not None:
            self._tasks[place] = self._group.create_task(self.ears[place].run())

    def _around(self, place: Place) -> Surroundings:
        return Surroundings(
            faces=lambda: self._living(place),
            others=lambda: self._others(place),
            heard=self._heard,
            clock=self._clock,
        )

    def _place_of(self, agent: str, process: Process) -> Place | None:
        host = self._host_of(agent)
        try:
            where = host.place_of(process) if host is not None else ""
        except Exception as error:  # an adapter may be anybody's
            log.error("where the server of %s is was not told: %s: %s", agent, type(error).__name__, error)
            return None
        return (agent, where) if where else None

    async def _others(self, place: Place) -> Sequence[Face]:
        """Those of the same place that live in no pane of ours."""
        if self._elsewhere is None:
            return []
        agent, now = place[0], self._clock.now()
        found = await self._elsewhere.beside(agent, [one.face.process.pid for one in self._guests.values()])
        same = [one for one in found if self._place_of(agent, one) == place]
        return [Face(one, began_at(one.pid_started, now), is_elsewhere=True) for one in same]

    def _living(self, place: Place) -> list[Face]:
        return [guest.face for guest in self._guests.values() if guest.place == place]
