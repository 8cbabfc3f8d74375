"""Read the time that retention goes by, keep it over restarts, and describe a jump of the system clock."""

from termvisor.clock import NS, Clock
from termvisor.log import get_logger
from termvisor.model.confirmed_time import STEADY_NS, ClockTimes, ConfirmedTime, advance_time, begin_time
from termvisor.ops.render.text import format_age
from termvisor.store import Store
from termvisor.system.procfs import read_boot_id

log = get_logger("maintenance")


class RetentionClock:
    """The clock of retention. It stands still, compared with the system clock, after that one has jumped ahead."""

    def __init__(self, store: Store, clock: Clock, boot: str):
        self._store, self._clock, self._boot = store, clock, boot
        self._time = begin_time(None, self._read_clocks())

    @classmethod
    async def open(cls, store: Store, clock: Clock, boot: str | None = None) -> "RetentionClock":
        """Continue the stored time, or begin with the newest stored row. Call it before anything is stored."""
        opened = cls(store, clock, read_boot_id() if boot is None else boot)
        stored = await store.maintenance.read_confirmed_time()
        if stored is not None:
            opened._time = stored
        else:
            opened._time = begin_time(await store.maintenance.find_newest_time(), opened._read_clocks())
        return opened

    def now(self) -> int:
        """Return the time by which data may be deleted."""
        return self._advance().retention_time

    @property
    def jump_s(self) -> float:
        """Return by how many seconds the system clock was set, until that is believed; 0 if it was not."""
        time = self._advance()
        return round(time.jump / NS, 3) if time.has_jumped else 0.0

    @property
    def problem(self) -> str:
        """Describe a jump of the system clock for users; empty if there was none."""
        time = self._advance()
        if not time.has_jumped:
            return ""
        direction = "ahead" if time.jump > 0 else "back"
        left = format_age(max(0, STEADY_NS - time.steady_for) / NS)
        return (
            f"the system clock was set {direction} by {format_age(abs(time.jump) / NS)}; data expires by the earlier"
            f" time until the clock has been steady for another {left}. Check its time service"
        )

    async def save(self) -> None:
        """Store the time, so that a restart does not hide a jump."""
        await self._store.maintenance.save_confirmed_time(self._advance())

    def _advance(self) -> ConfirmedTime:
        before, self._time = self._time, advance_time(self._time, self._read_clocks())
        if self._time.has_jumped and not before.has_jumped:
            log.warning("the system clock was set by %.0f s", self._time.jump / NS)
        return self._time

    def _read_clocks(self) -> ClockTimes:
        return ClockTimes(self._clock.now(), self._boot, int(self._clock.monotonic() * NS))
