"""An agent tracker with a real store and a fixed clock, and builders for facts."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from termvisor.agents.state.published_state import list_states
from termvisor.agents.state.thresholds import Thresholds
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_discovery import PaneInfo
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.agents.tracking.transition import TrackingConfig
from termvisor.bus import Bus, Subscription
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentProcess, AgentStarted, PaneLocation
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateChange, StateName
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from termvisor.store import Store
from termvisor.testing.fake_clock import FakeClock
from tests.unit.agents.tracking.toy_agent import ADAPTER

ONE = RuntimeId(1)
THRESHOLDS = Thresholds(sources={"toy": ADAPTER.sources})


def build_registry() -> AdapterRegistry:
    return AdapterRegistry(lambda: [ADAPTER])


def build_config() -> TrackingConfig:
    return TrackingConfig(thresholds=THRESHOLDS, build_resume_command=build_registry().build_resume_command)


def build_location(mux_pane: str = "%1") -> PaneLocation:
    return PaneLocation(TargetName("local"), "/tmp/tmux-1/default", MuxPaneId(mux_pane))


def build_pane_info(pane: int = 1, command: str = "bash", pid: int = 7, title: str = "") -> PaneInfo:
    return PaneInfo(pane=PaneId(pane), pid=pid, command=command, title=title, place=build_location(f"%{pane}"))


def build_agent_started(at: int, number: int = 1, pane: int = 1, **fields) -> AgentStarted:
    defaults = {"agent": "toy", "pid": 100 + number, "pid_started": 9, "cwd": "/home/ada", "started_at": at}
    runtime = AgentProcess(
        id=RuntimeId(number), pane=PaneId(pane), place=build_location(f"%{pane}"), **(defaults | fields)
    )
    return AgentStarted(at=at, runtime=runtime)


def build_signal(at: int, state: StateName | None, **fields) -> Signal:
    """Build a signal of the toy agent; without a state it is a note."""
    defaults = {
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
    return Signal(**(defaults | fields))


class TrackerScene:
    """A tracker that runs while the scene is open; `restart` kills and reopens it on the same store."""

    def __init__(self, store: Store, clock: FakeClock):
        self.store, self.clock = store, clock
        self.events: Bus[Event] = Bus()

    async def open(self) -> "TrackerScene":
        self.tracker = AgentTracker(self.store, self.events, self.clock, build_config())
        await self.tracker.restore()
        self._task = asyncio.ensure_future(self.tracker.run())
        return self

    async def kill(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def close(self) -> None:
        self.tracker.stop()
        await self._task

    async def restart(self) -> None:
        await self.kill()
        await self.open()

    async def submit(self, *facts) -> None:
        assert self.tracker.submit_facts(facts)
        await self.tracker.wait_stored()

    async def pass_time(self, seconds: float) -> None:
        """Advance the clock and wait until the tracker has processed it."""
        await self.clock.advance(seconds)
        await self.submit(build_signal(self.clock.now(), None, source="process", tier="heuristic", kind="heartbeat"))

    def now(self, seconds: float = 0) -> int:
        return self.clock.now() + int(seconds * NS)

    @property
    def states(self) -> list[AgentState]:
        return list_states(self.tracker.state.knowledge, self.clock.now(), THRESHOLDS)

    async def list_event_kinds(self) -> list[str]:
        return [event.kind for event in await self.store.events.list(limit=100)]

    @contextmanager
    def subscribe_to_changes(self) -> Iterator[Subscription[StateChange]]:
        with self.tracker.state_changes.subscribe() as changes:
            yield changes


@asynccontextmanager
async def open_tracker_scene(path: str) -> AsyncIterator[TrackerScene]:
    clock = FakeClock()
    store = await Store.open(path, clock)
    house = await TrackerScene(store, clock).open()
    yield house
    await house.close()
    await store.close()
