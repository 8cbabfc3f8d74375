"""When a usage limit ends, from the words in which agents say it: `3pm (Europe/Berlin)`, `in 2h 15m`, `Nov 20 at 5pm`.

Nothing is guessed: an unknown zone or a time that does not exist gives None. The zones come from the caller, who may
read files. A time of day is the next one from now; one that has only just passed is that one, not tomorrow's.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from msgspec import Struct

_NS = 10**9
_MINUTE_NS = 60 * _NS
_PAST_TOLERANCE = timedelta(minutes=10)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SECONDS_BY_UNIT = {"d": 86400, "h": 3600, "m": 60, "s": 1}

_DURATION = re.compile(
    r"\bin\s+((?:\d+\s*(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[dhms])\b[\s,]*(?:and\s+)?)+)"
)
_DURATION_PART = re.compile(r"(\d+)\s*([dhms])")
_ISO_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?")
_DATE = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?")
_TIME_OF_DAY = re.compile(r"(?<![\d:.])(\d{1,2})(?::(\d\d))?(?::\d\d)?\s*([ap])\.?m\b|(?<![\d:.])(\d{1,2}):(\d\d)\b")
_OFFSET_PATTERN = r" ?[+-]\d{1,2}(?::?\d\d)?"
_ZONE_NAME = re.compile(
    rf"\(([A-Za-z_]+(?:/[\w+-]+)+|[A-Z]{{1,5}}|(?:UTC|GMT)?{_OFFSET_PATTERN})\)"  # in brackets: Europe/Berlin, PST, GMT-05:30
    rf"|\b((?:UTC|GMT)(?:{_OFFSET_PATTERN})?)\b"
)
_ZONE_OFFSET = re.compile(r"(?:utc|gmt)?\s?([+-])(\d{1,2})(?::?(\d\d))?")

ZoneFinder = Callable[[str], tzinfo | None]
"""A zone by its name, as the IANA writes it; None for one that is not known."""


class ResetTimeContext(Struct, frozen=True):
    """When and where the words were read. ``zone`` holds for words that name none: that of the agent's machine."""

    now: int
    zone: tzinfo
    find_zone: ZoneFinder


def parse_reset_time(text: str, context: ResetTimeContext) -> int | None:
    """The instant that the words name, in nanoseconds since 1970; None if they name none."""
    words = " ".join(text.split())
    lower = words.lower()
    if (span := _DURATION.search(lower)) is not None:
        return (
            context.now
            + sum(int(number) * _SECONDS_BY_UNIT[unit] for number, unit in _DURATION_PART.findall(span[1])) * _NS
        )
    zone = _find_zone(words, context)
    if zone is None:
        return None
    try:
        moment = _parse_iso_time(lower, zone) or _parse_time_of_day(lower, context.now, zone)
    except (ValueError, OverflowError):
        return None
    return None if moment is None else _to_ns(moment)


def round_up_to_minute(end: int) -> int:
    """When what ends then is surely over: texts tell an end without its seconds."""
    return end if end % _MINUTE_NS else end + _MINUTE_NS


def _find_zone(words: str, context: ResetTimeContext) -> tzinfo | None:
    """That which the words name; without any that of the machine; None for one that is not known."""
    found = _ZONE_NAME.search(words)
    if found is None:
        return context.zone
    name = (found[1] or found[2]).strip()
    if name.lower() in ("utc", "gmt", "z"):
        return UTC
    if (offset := _ZONE_OFFSET.fullmatch(name.lower())) is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes)) if minutes < 1440 else None
    return context.find_zone(name)


def _parse_iso_time(lower: str, zone: tzinfo) -> datetime | None:
    """A date and time as ISO 8601 writes them."""
    found = _ISO_TIME.search(lower)
    if found is None:
        return None
    moment = datetime.fromisoformat(found[0].upper())
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def _parse_time_of_day(lower: str, now: int, zone: tzinfo) -> datetime | None:
    """A time of day, with a day or without one."""
    date, clock = _DATE.search(lower), _TIME_OF_DAY.search(lower)
    if clock is None:
        return None
    today = datetime.fromtimestamp(now // _NS, UTC).astimezone(zone)
    moment = today.replace(
        hour=_parse_hour(clock), minute=int(clock[2] or clock[5] or 0), second=0, microsecond=0, fold=0
    )
    past = today - _PAST_TOLERANCE
    if date is None:
        return moment if _to_ns(moment) >= _to_ns(past) else moment + timedelta(days=1)
    moment = moment.replace(year=int(date[3] or today.year), month=_MONTHS.index(date[1]) + 1, day=int(date[2]))
    is_next_year = date[3] is None and _to_ns(moment) < _to_ns(today - timedelta(days=180))
    return moment.replace(year=moment.year + 1) if is_next_year else moment


def _parse_hour(clock: re.Match[str]) -> int:
    if clock[4] is not None:
        return int(clock[4])
    hour = int(clock[1])
    if not 1 <= hour <= 12:
        raise ValueError("no such hour")
    return hour % 12 + 12 * (clock[3] == "p")


def _to_ns(moment: datetime) -> int:
    return int(moment.timestamp()) * _NS
