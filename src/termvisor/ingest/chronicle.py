"""Facts are stored before they are told: the one way events leave the watching side."""

from typing import Protocol

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import PaneId


class EventStore(Protocol):
    async def add(self, events: list[Event]) -> list[Event]: ...


class Chronicle:
    def __init__(self, store: EventStore, clock: Clock):
        self._store, self._clock = store, clock
        self.news: Bus[Event] = Bus()

    async def tell(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> None:
        event = Event(at=self._clock.now(), kind=kind, pane=pane, data=data)
        for stored in await self._store.add([event]):
            self.news.publish(stored)
