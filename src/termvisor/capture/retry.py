"""Schedule retries of one operation with backoff, and raise an alert while it is held down."""

from termvisor.capture.event_log import EventLog
from termvisor.clock import Clock
from termvisor.system.backoff import Backoff

NEXT_RETRY_HINT = "next retry in 5 minutes (see `visor logs`)"
"""Ends every alert about a held-down operation; the time is the hold-down of Backoff."""


class AlertingRetry:
    """``description`` completes the alert message: what keeps failing."""

    def __init__(self, alert_key: str, description: str, event_log: EventLog, clock: Clock):
        self._alert_key, self._description = alert_key, description
        self._event_log, self._clock = event_log, clock
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
        """Clear the alert but keep the failure history: the operation is no longer needed."""
        await self._event_log.clear_alert(self._alert_key)

    async def wait_until_due(self) -> None:
        await self._clock.sleep(max(0.0, self.next_try_at - self._clock.monotonic()))
