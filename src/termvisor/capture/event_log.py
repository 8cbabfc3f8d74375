"""Store events and publish them to subscribers; raise and clear alerts.

Invariant: an event is stored before it is published.
"""

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
        """Messages of the active alerts, by alert key."""

    async def emit(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> None:
        """Store and publish an event; retry until the database can be written."""
        event = Event(at=self._clock.now(), kind=kind, pane=pane, data=data)
        await self._write_retry(lambda: self.append(event))

    async def append(self, event: Event) -> Event:
        """Store and publish an event; raises StorageError if the database cannot be written."""
        (stored,) = await self._store.add([event])
        self.events.publish(stored)
        return stored

    async def raise_alert(self, alert_key: str, message: str) -> None:
        """Show an alert until clear_alert; only the first call emits an event, later ones update the message."""
        is_new = alert_key not in self.alerts
        self.alerts[alert_key] = message
        if is_new:
            await self.emit("alert", about=alert_key, what=message)

    async def clear_alert(self, alert_key: str) -> None:
        """Remove an alert and emit an event if it was active."""
        if message := self.alerts.pop(alert_key, None):
            await self.emit("alert_cleared", about=alert_key, what=message)
