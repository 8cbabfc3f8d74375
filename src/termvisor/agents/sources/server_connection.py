"""Somebody who listens to one server of an agent: connects, and connects again, and says how that goes.

What comes in: what the server says, as records. What goes out: the same, without secrets, to be stored. Whatever is
wrong with this server, nobody else is disturbed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Process, Record
from termvisor.agents.adapters.server_contract import Face, Host, Means, Server
from termvisor.agents.sources.json_redaction import clean
from termvisor.agents.sources.reader_health import Condition
from termvisor.clock import Clock
from termvisor.errors import VisorError
from termvisor.log import logger
from termvisor.model.agent.session import SourceHealth
from termvisor.system.backoff import Backoff
from termvisor.system.listening_ports import ports_of

LOOK_EVERY, LONGEST_PAUSE = 2.0, 10.0
"""Seconds between two looks for a server that is not there: at first, and at most while nobody comes or goes."""
_GROWTH = 1.5
Heard = Callable[[list[Record]], Awaitable[None]]
log = logger("agents")


class Surroundings(Struct, frozen=True, kw_only=True):
    """``faces`` use the server in panes of ours, ``others`` elsewhere; ``heard`` returns when records are stored."""

    faces: Callable[[], Sequence[Face]]
    others: Callable[[], Awaitable[Sequence[Face]]]
    heard: Heard
    clock: Clock


class ServerEar:
    def __init__(self, agent: str, place: str, host: Host, around: Surroundings):
        self._heard, self._clock = around.heard, around.clock
        self._backoff, self._pause = Backoff(), LOOK_EVERY
        self._lag: float | None = None
        means = Means(
            clock=around.clock,
            told=self._tell,
            well=self._well,
            faces=around.faces,
            others=around.others,
            ports=_ports,
        )
        self.server: Server = host.server(place, means)
        self._condition = Condition(agent, host.source, self.server.where)

    @property
    def health(self) -> SourceHealth:
        return replace(self._condition.health, lag=self._lag)

    def look_again(self) -> None:
        """Somebody came, or left."""
        self._pause = LOOK_EVERY
        self.server.look_again()

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._clock.sleep(await self._turn(group))

    async def _turn(self, group: asyncio.TaskGroup) -> float:
        """One connection, from its beginning to its end. The seconds to wait before the next."""
        try:
            if why := await self.server.absence():
                self._condition.looked(is_absent=True, dropped=0, detail=why)
                pause, self._pause = self._pause, min(LONGEST_PAUSE, self._pause * _GROWTH)
                return pause
            self._pause = LOOK_EVERY
            await self.server.converse(group)
        except Exception as error:  # whatever is wrong with this one, the others go on
            self._failed(error)
        try:
            await self._tell(self.server.lost())
        except Exception as error:  # as above
            self._failed(error)
        now = self._clock.monotonic()
        return self._backoff.failed(now) - now

    def _failed(self, error: Exception) -> None:
        why = error.message if isinstance(error, VisorError) else str(error) or type(error).__name__
        log.info("%s: %s", self.server.where, why)
        self._condition.failed(why)

    def _well(self, detail: str, lag: float | None) -> None:
        self._backoff.worked()
        self._lag = lag
        self._condition.looked(is_absent=False, dropped=0, detail=detail)

    async def _tell(self, records: Sequence[Record]) -> None:
        if records:
            await self._heard([replace(record, text=clean(record.text)) for record in records])
            self._condition.heard(len(records), self._clock.now())


async def _ports(process: Process) -> Sequence[int]:
    return await asyncio.to_thread(ports_of, process.pid, process.pid_started)
