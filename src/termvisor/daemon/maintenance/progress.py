"""What an operation of upkeep has reached so far."""

from collections.abc import Mapping

from termvisor.clock import Clock
from termvisor.model.maintenance import Maintenance


class Tally:
    def __init__(self, operation: str, clock: Clock):
        self._operation, self._clock = operation, clock
        self._started_at, self._began = clock.now(), clock.monotonic()
        self.rows = self.bytes = 0
        self.counts: dict[str, int] = {}

    def add(self, name: str, number: int) -> None:
        self.rows += number
        self.counts[name] = self.counts.get(name, 0) + number

    def step(self, detail: str = "") -> Maintenance:
        return self._told(detail, is_done=False)

    def done(self, detail: str = "") -> Maintenance:
        return self._told(detail, is_done=True)

    def _told(self, detail: str, *, is_done: bool) -> Maintenance:
        return Maintenance(
            operation=self._operation,
            started_at=self._started_at,
            duration=self._clock.monotonic() - self._began,
            rows=self.rows,
            bytes=self.bytes,
            detail=detail,
            is_done=is_done,
        )


def listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items() if number)
