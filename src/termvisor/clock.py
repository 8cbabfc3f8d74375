"""The only file that knows the time. Instants are nanoseconds since 1970 (UTC), durations are seconds."""

import asyncio
import re
import time
from datetime import UTC, datetime
from typing import Protocol

from termvisor.errors import BadRequest

NS = 1_000_000_000
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")
_MONOTONIC_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Counts also while the machine sleeps, where the kernel has such a clock."""
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


class Clock(Protocol):
    """What the rest of the product knows of time."""

    def now(self) -> int:
        """The instant, in nanoseconds since 1970; may jump when the machine's clock is set."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for durations and deadlines."""

    async def sleep(self, seconds: float) -> None:
        """Let others work for a while."""


class SystemClock:
    def now(self) -> int:
        return time.time_ns()

    def monotonic(self) -> float:
        return time.clock_gettime(_MONOTONIC_CLOCK)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def format_timestamp(at: int) -> str:
    """RFC 3339 in UTC with milliseconds: ``2026-11-15T21:22:15.123Z``."""
    stamp = datetime.fromtimestamp(at // NS, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp}.{at % NS // 1_000_000:03d}Z"


def compute_local_time(at: int) -> tuple[int, int]:
    """Where this machine is: the weekday, Monday as 0, and the minute of the day."""
    here = datetime.fromtimestamp(at // NS).astimezone()
    return here.weekday(), here.hour * 60 + here.minute


def parse_duration(text: str) -> float:
    """``90``, ``2s``, ``5m``, ``1h30m`` as seconds."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not re.fullmatch(rf"(?:{_DURATION_PART.pattern})+", text):
        raise BadRequest(f"not a duration: {text!r}", hint="Write for example 30s, 5m, 2h, 7d.")
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _DURATION_PART.findall(text))


def parse_timestamp(text: str, now: int) -> int:
    """An instant from ISO 8601, ``now``, ``today``, ``yesterday`` or a duration ago (``10m``)."""
    if text == "now":
        return now
    if text in ("today", "yesterday"):
        midnight = datetime.fromtimestamp(now // NS).astimezone().replace(hour=0, minute=0, second=0)
        return int(midnight.timestamp() - (86400 if text == "yesterday" else 0)) * NS
    if _DURATION_PART.match(text) and not re.match(r"\d{4}-", text):
        return now - int(parse_duration(text) * NS)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(
            f"not a time: {text!r}", hint="Write ISO 8601 (2026-11-15T21:00), today, or an age such as 10m."
        ) from error
    return int(moment.astimezone().timestamp() * NS)
