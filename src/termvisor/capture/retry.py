"""One thing that is tried again and again until it works: when the next try is, and the alert while it is held down."""

from termvisor.capture.event_log import EventLog
from termvisor.clock import Clock
from termvisor.system.backoff import Backoff


class AlertingRetry:
    """``about`` names it in alerts; ``what`` says in words what keeps failing."""

    def __init__(self, alert_key: str, description: str, event_log: EventLog, clock: Clock):
        self._alert_key, self._description = alert_key, description
        self._event_log, self._clock = event_log, clock
        self._backoff = Backoff()
        self.next_try_at = 0.0
        """The moment of the next try."""

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
            await self._event_log.raise_alert(
                self._alert_key, f"{self._description}{reason}; the next try is in five minutes (see `visor logs`)"
            )

    async def record_success(self) -> None:
        self._backoff.record_success()
        await self._event_log.clear_alert(self._alert_key)

    async def clear_alert(self) -> None:
        """It is no longer wanted; its failures are remembered."""
        await self._event_log.clear_alert(self._alert_key)

    async def wait_until_due(self) -> None:
        """Until the next try."""
        await self._clock.sleep(max(0.0, self.next_try_at - self._clock.monotonic()))
