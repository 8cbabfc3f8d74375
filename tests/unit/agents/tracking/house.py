"""Somebody who knows, with a real store and a clock that stands still; and the words in which tests talk to them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from termvisor.agents.state.published_state import states
from termvisor.agents.state.thresholds import Measure
from termvisor.agents.tracking import Circle, Knowing, Standing, Terms
from termvisor.bus import Bus, Subscription
from termvisor.clock import NS
from termvisor.model.agent.agent_process import Place, Runtime, RuntimeBegan
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateChange, StateName
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from termvisor.store import Store
from termvisor.testing.world import StillClock
from tests.unit.agents.tracking.toy import ADAPTER

ONE = RuntimeId(1)
MEASURE = Measure(sources={"toy": ADAPTER.sources})


def circle() -> Circle:
    return Circle(lambda: [ADAPTER])


def terms() -> Terms:
    return Terms(measure=MEASURE, resume=circle().resume)


def place(mux_pane: str = "%1") -> Place:
    return Place(TargetName("local"), "/tmp/tmux-1/default", MuxPaneId(mux_pane))


def standing(pane: int = 1, command: str = "bash", pid: int = 7, title: str = "") -> Standing:
    return Standing(pane=PaneId(pane), pid=pid, command=command, title=title, place=place(f"%{pane}"))


def began(at: int, number: int = 1, pane: int = 1, **fields) -> RuntimeBegan:
    known = {"agent": "toy", "pid": 100 + number, "pid_started": 9, "cwd": "/home/ada", "started_at": at}
    runtime = Runtime(id=RuntimeId(number), pane=PaneId(pane), place=place(f"%{pane}"), **(known | fields))
    return RuntimeBegan(at=at, runtime=runtime)


def says(at: int, state: StateName | None, **fields) -> Signal:
    """What the toy says of itself; without a state it tells something beside it."""
    known = {
        "source": "osc",
        "tier": "deterministic",
        "agent": "toy",
        "runtime": ONE,
        "event_at": at,
        "ingested_at": at,
        "dedupe_key": f"{fields.get('source', 'osc')} {at} {state}",
        "kind": "state" if state else "note",
        "state": state,
    }
    return Signal(**(known | fields))


class House:
    """``knowing`` runs while the house is open. `again` is what a killed daemon comes back to."""

    def __init__(self, store: Store, clock: StillClock):
        self.store, self.clock = store, clock
        self.events: Bus[Event] = Bus()

    async def open(self) -> "House":
        self.knowing = Knowing(self.store, self.events, self.clock, terms())
        await self.knowing.open()
        self._task = asyncio.ensure_future(self.knowing.run())
        return self

    async def kill(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def close(self) -> None:
        self.knowing.end()
        await self._task

    async def again(self) -> None:
        await self.kill()
        await self.open()

    async def tell(self, *facts) -> None:
        assert self.knowing.take(facts)
        await self.knowing.stored()

    async def pass_time(self, seconds: float) -> None:
        """Time passes, and whoever waited for it is awake."""
        await self.clock.advance(seconds)
        await self.tell(says(self.clock.now(), None, source="process", tier="heuristic", kind="heartbeat"))

    def now(self, seconds: float = 0) -> int:
        return self.clock.now() + int(seconds * NS)

    @property
    def states(self) -> list[AgentState]:
        return states(self.knowing.standing.knowledge, self.clock.now(), MEASURE)

    async def kinds(self) -> list[str]:
        return [event.kind for event in await self.store.events.list(limit=100)]

    @contextmanager
    def news(self) -> Iterator[Subscription[StateChange]]:
        with self.knowing.news.subscribe() as news:
            yield news


@asynccontextmanager
async def opened(path: str) -> AsyncIterator[House]:
    clock = StillClock()
    store = await Store.open(path, clock)
    house = await House(store, clock).open()
    yield house
    await house.close()
    await store.close()
