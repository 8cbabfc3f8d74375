"""Store events and publish them to subscribers. Raise and clear alerts, including those of retried operations.

Invariant: an event is stored before it is published.
"""

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.retrying_database import WriteRetry
from termvisor.store.tables.events import EventTable
from termvisor.system.retry import Backoff


class EventLog:
    def __init__(self, store: EventTable, clock: Clock, write_retry: WriteRetry | None = None):
        self._store, self.clock, self._write_retry = store, clock, write_retry or WriteRetry(clock)
        self.events: Bus[Event] = Bus()
        self.alerts: dict[str, str] = {}
        """Messages of the active alerts, by alert key."""

    async def emit(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> None:
        """Store and publish an event, retrying until the database can be written."""
        event = Event(at=self.clock.now(), kind=kind, pane=pane, data=data)
        await self._write_retry(lambda: self.append(event))

    async def append(self, event: Event) -> Event:
        """Store and publish an event. Raises StorageError if the database cannot be written."""
        (stored,) = await self._store.add([event])
        self.events.publish(stored)
        return stored

    async def raise_alert(self, alert_key: str, message: str) -> None:
        """Show an alert until clear_alert(). Only the first call emits an event; later ones update the message."""
        is_new = alert_key not in self.alerts
        self.alerts[alert_key] = message
        if is_new:
            await self.emit("alert", about=alert_key, what=message)

    async def clear_alert(self, alert_key: str) -> None:
        """Remove an alert and emit an event if it was active."""
        if message := self.alerts.pop(alert_key, None):
            await self.emit("alert_cleared", about=alert_key, what=message)


NEXT_RETRY_HINT = "next retry in 5 minutes (see `visor logs`)"
"""Ends every alert about an operation that is held down; the five minutes are the hold-down of Backoff."""


class AlertingRetry:
    """Backoff that raises an alert while an operation is held down; ``description`` is what keeps failing."""

    def __init__(self, alert_key: str, description: str, event_log: EventLog):
        self._alert_key, self._description = alert_key, description
        self._event_log, self._clock = event_log, event_log.clock
        self._backoff = Backoff()
        self.next_try_at = 0.0

    @property
    def failure_count(self) -> int:
        return self._backoff.total_failures

    @property
    def is_due(self) -> bool:
        return self._clock.monotonic() >= self.next_try_at

    async def record_failure(self, cause: str = "") -> None:
        self.next_try_at = self._backoff.record_failure(self._clock.monotonic())
        if self._backoff.is_held_down:
            reason = f" ({cause})" if cause else ""
            await self._event_log.raise_alert(self._alert_key, f"{self._description}{reason}; {NEXT_RETRY_HINT}")

    async def record_success(self) -> None:
        self._backoff.record_success()
        await self._event_log.clear_alert(self._alert_key)

    async def clear_alert(self) -> None:
        """Clear the alert but keep the failure history, because the operation is no longer needed."""
        await self._event_log.clear_alert(self._alert_key)

    async def wait_until_due(self) -> None:
        await self._clock.sleep(max(0.0, self.next_try_at - self._clock.monotonic()))
