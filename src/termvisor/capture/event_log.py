"""Facts are stored before they are told: the one way events leave the watching side."""

from typing import Protocol

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.retrying_database import Patience


class EventStore(Protocol):
    async def add(self, events: list[Event]) -> list[Event]: ...


class Chronicle:
    def __init__(self, store: EventStore, clock: Clock, patience: Patience | None = None):
        self._store, self._clock, self._patience = store, clock, patience or Patience(clock)
        self.news: Bus[Event] = Bus()
        self.alerts: dict[str, str] = {}
        """What needs a person now, by what it is about."""

    async def tell(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> None:
        """Waits as long as it cannot be stored."""
        event = Event(at=self._clock.now(), kind=kind, pane=pane, data=data)
        await self._patience(lambda: self.record(event))

    async def record(self, event: Event) -> Event:
        """Fails when it cannot be stored."""
        (stored,) = await self._store.add([event])
        self.news.publish(stored)
        return stored

    async def alert(self, about: str, what: str) -> None:
        """Something needs a person. It is told once and shown until `all_clear`; the words may change meanwhile."""
        is_new = about not in self.alerts
        self.alerts[about] = what
        if is_new:
            await self.tell("alert", about=about, what=what)

    async def all_clear(self, about: str) -> None:
        """It is in order again, if it was not."""
        if what := self.alerts.pop(about, None):
            await self.tell("alert_cleared", about=about, what=what)
