"""One thing that is tried again and again until it works: when the next try is, and the alert while it is held down."""

from termvisor.capture.event_log import Chronicle
from termvisor.clock import Clock
from termvisor.system.backoff import Backoff


class Attempts:
    """``about`` names it in alerts; ``what`` says in words what keeps failing."""

    def __init__(self, about: str, what: str, chronicle: Chronicle, clock: Clock):
        self._about, self._what = about, what
        self._chronicle, self._clock = chronicle, clock
        self._backoff = Backoff()
        self.next_at = 0.0
        """The moment of the next try."""

    @property
    def failures(self) -> int:
        return self._backoff.total

    @property
    def is_due(self) -> bool:
        return self._clock.monotonic() >= self.next_at

    async def failed(self, why: str = "") -> None:
        self.next_at = self._backoff.failed(self._clock.monotonic())
        if self._backoff.is_held:
            reason = f" ({why})" if why else ""
            await self._chronicle.alert(
                self._about, f"{self._what}{reason}; the next try is in five minutes (see `visor logs`)"
            )

    async def worked(self) -> None:
        self._backoff.worked()
        await self._chronicle.all_clear(self._about)

    async def over(self) -> None:
        """It is no longer wanted; its failures are remembered."""
        await self._chronicle.all_clear(self._about)

    async def wait(self) -> None:
        """Until the next try."""
        await self._clock.sleep(max(0.0, self.next_at - self._clock.monotonic()))
