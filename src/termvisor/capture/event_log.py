"""Facts are stored before they are told: the one way events leave the watching side."""

from typing import Protocol

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.retrying_database import WriteRetry


class EventStore(Protocol):
    async def add(self, events: list[Event]) -> list[Event]: ...


class EventLog:
    def __init__(self, store: EventStore, clock: Clock, write_retry: WriteRetry | None = None):
        self._store, self._clock, self._write_retry = store, clock, write_retry or WriteRetry(clock)
        self.events: Bus[Event] = Bus()
        self.alerts: dict[str, str] = {}
        """What needs a person now, by what it is about."""

    async def emit(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> None:
        """Waits as long as it cannot be stored."""
        event = Event(at=self._clock.now(), kind=kind, pane=pane, data=data)
        await self._write_retry(lambda: self.append(event))

    async def append(self, event: Event) -> Event:
        """Fails when it cannot be stored."""
        (stored,) = await self._store.add([event])
        self.events.publish(stored)
        return stored

    async def raise_alert(self, alert_key: str, message: str) -> None:
        """Something needs a person. It is told once and shown until `all_clear`; the words may change meanwhile."""
        is_new = alert_key not in self.alerts
        self.alerts[alert_key] = message
        if is_new:
            await self.emit("alert", about=alert_key, what=message)

    async def clear_alert(self, alert_key: str) -> None:
        """It is in order again, if it was not."""
        if what := self.alerts.pop(alert_key, None):
            await self.emit("alert_cleared", about=alert_key, what=what)
