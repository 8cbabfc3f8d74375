"""Count rows and bytes of a maintenance operation and build its progress reports."""

from collections.abc import Mapping

from termvisor.clock import Clock
from termvisor.model.maintenance import MaintenanceRun


class MaintenanceProgress:
    def __init__(self, operation: str, clock: Clock):
        self._operation, self._clock = operation, clock
        self._started_at, self._started_monotonic = clock.now(), clock.monotonic()
        self.rows = self.bytes = 0
        self.counts: dict[str, int] = {}

    def add_rows(self, name: str, number: int) -> None:
        self.rows += number
        self.counts[name] = self.counts.get(name, 0) + number

    def build_step(self, detail: str = "") -> MaintenanceRun:
        return self._build_report(detail, is_done=False)

    def build_result(self, detail: str = "") -> MaintenanceRun:
        return self._build_report(detail, is_done=True)

    def _build_report(self, detail: str, *, is_done: bool) -> MaintenanceRun:
        return MaintenanceRun(
            operation=self._operation,
            started_at=self._started_at,
            duration=self._clock.monotonic() - self._started_monotonic,
            rows=self.rows,
            bytes=self.bytes,
            detail=detail,
            is_done=is_done,
        )


def format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items() if number)
