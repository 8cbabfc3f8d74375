"""Read, format and parse time (only here). Instants are Unix time in nanoseconds, durations are seconds."""

import asyncio
import re
import time
from datetime import UTC, datetime
from typing import Protocol

from termvisor.errors import BadRequest

NS = 1_000_000_000
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")
_MONOTONIC_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""CLOCK_BOOTTIME (Linux) keeps counting while the machine is suspended, so deadlines pass during sleep."""
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


class Clock(Protocol):
    """Source of time, replaced by a fake clock in tests."""

    def now(self) -> int:
        """Return Unix time in nanoseconds. It jumps when the system clock is set."""

    def monotonic(self) -> float:
        """Return a time in seconds that never goes backwards, for durations and deadlines."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> int:
        return time.time_ns()

    def monotonic(self) -> float:
        return time.clock_gettime(_MONOTONIC_CLOCK)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def format_timestamp(at: int) -> str:
    """Format an instant as RFC 3339 in UTC with milliseconds: ``2026-11-15T21:22:15.123Z``."""
    # Convert whole seconds only: a float of nanoseconds since 1970 is off by up to 128 ns and may round up.
    stamp = datetime.fromtimestamp(at // NS, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp}.{at % NS // 1_000_000:03d}Z"


def compute_local_time(at: int) -> tuple[int, int]:
    """Return the local weekday (Monday is 0) and minute of the day."""
    local = datetime.fromtimestamp(at // NS).astimezone()
    return local.weekday(), local.hour * 60 + local.minute


def compute_seconds_between(start: int, end: int) -> float:
    """Return the seconds between two instants, rounded to milliseconds."""
    return round((end - start) / NS, 3)


def parse_duration(text: str) -> float:
    """Convert a duration such as ``90``, ``2s``, ``5m`` or ``1h30m`` to seconds. Raises BadRequest."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not re.fullmatch(rf"(?:{_DURATION_PART.pattern})+", text):
        raise BadRequest(f"invalid duration: {text!r}", hint="Use for example 30s, 5m, 2h or 7d.")
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _DURATION_PART.findall(text))


def parse_timestamp(text: str, now: int) -> int:
    """Parse ISO 8601, ``now``, ``today``, ``yesterday`` or an age such as ``10m``. Raises BadRequest."""
    if text == "now":
        return now
    if text in ("today", "yesterday"):
        midnight = datetime.fromtimestamp(now // NS).astimezone().replace(hour=0, minute=0, second=0)
        return int(midnight.timestamp() - (86400 if text == "yesterday" else 0)) * NS
    if _DURATION_PART.match(text):
        return now - int(parse_duration(text) * NS)
    try:
        # A time without an offset is local time, as `astimezone` below assumes.
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(
            f"invalid time: {text!r}", hint="Use ISO 8601 (2026-11-15T21:00), today, or an age such as 10m."
        ) from error
    return int(moment.astimezone().timestamp() * NS)
