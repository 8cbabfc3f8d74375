"""The time that retention goes by: the system clock, as far as a second clock confirms it. Pure.

The system clock may be set, by hand or by a time service; then years seem to pass in a second. The time since the boot
(which also counts while the machine sleeps) never jumps. A difference between both that came up at once is believed
only after the system clock has been steady for a day. After a reboot, the time for which the machine was off is in the
same doubt, but it is no jump.
"""

from msgspec import Struct
from msgspec.structs import replace

_NS = 1_000_000_000
# The difference that slewing and a quick reboot may cause. Nothing is kept for so short that it would matter.
_TOLERANCE_NS = 300 * _NS
STEADY_NS = 86_400 * _NS
"""How long the system clock must be steady before a jump is believed."""


class ClockTimes(Struct, frozen=True):
    """All clocks at one instant; ``boot`` identifies the boot, ``since_boot`` is the time since then."""

    system_time: int
    boot: str
    since_boot: int


class ConfirmedTime(Struct, frozen=True, kw_only=True):
    """``at`` is how late it certainly is; the clocks are those of the same instant."""

    at: int
    system_time: int
    boot: str
    since_boot: int
    steady_for: int = 0
    """For how long the difference to the system clock has not changed."""
    has_jumped: bool = False
    """The system clock was set while the machine ran, or it is behind what is stored."""

    @property
    def jump(self) -> int:
        """How far the system clock is ahead of the confirmed time (behind, if negative); 0 if it is confirmed."""
        return self.system_time - self.at

    @property
    def retention_time(self) -> int:
        """The time by which data may be deleted: the earlier one, if there are two."""
        return min(self.at, self.system_time)


def begin_time(newest: int | None, clock: ClockTimes) -> ConfirmedTime:
    """Return the confirmed time of a database that has none yet; ``newest`` is the time of its newest row."""
    begun = ConfirmedTime(
        at=clock.system_time if newest is None else newest,
        system_time=clock.system_time,
        boot=clock.boot,
        since_boot=clock.since_boot,
    )
    return _settle(begun, has_jumped=begun.jump < -_TOLERANCE_NS)


def advance_time(last: ConfirmedTime, clock: ClockTimes) -> ConfirmedTime:
    """Return the confirmed time at a later reading of the clocks, also of another daemon or after a reboot."""
    is_same_boot = clock.boot == last.boot and clock.since_boot >= last.since_boot
    passed = clock.since_boot - (last.since_boot if is_same_boot else 0)
    change = clock.system_time - last.system_time - passed
    is_steady = is_same_boot and abs(change) <= _TOLERANCE_NS
    moved = ConfirmedTime(
        at=last.at + passed,
        system_time=clock.system_time,
        boot=clock.boot,
        since_boot=clock.since_boot,
        steady_for=last.steady_for + passed if is_steady else 0,
    )
    return _settle(moved, has_jumped=last.has_jumped or (is_same_boot and not is_steady) or moved.jump < -_TOLERANCE_NS)


def _settle(time: ConfirmedTime, *, has_jumped: bool) -> ConfirmedTime:
    if abs(time.jump) <= _TOLERANCE_NS or time.steady_for >= STEADY_NS:
        return replace(time, at=time.system_time, steady_for=0)
    return replace(time, has_jumped=has_jumped)
