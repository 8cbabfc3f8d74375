"""Parse the end of a usage limit from agents' texts: `3pm (Europe/Berlin)`, `in 2h 15m`, `Nov 20 at 5pm`.

Nothing is guessed: an unknown zone or an invalid time yields None. The caller looks up zones, which needs files. A
time of day means its next occurrence, unless it has only just passed.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from msgspec import Struct

_NS = 10**9
_MINUTE_NS = 60 * _NS
_PAST_TOLERANCE = timedelta(minutes=10)
"""A time of day that passed less than this ago means today, not tomorrow."""
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
    # in brackets: Europe/Berlin, PST, GMT-05:30
    rf"\(([A-Za-z_]+(?:/[\w+-]+)+|[A-Z]{{1,5}}|(?:UTC|GMT)?{_OFFSET_PATTERN})\)"
    rf"|\b((?:UTC|GMT)(?:{_OFFSET_PATTERN})?)\b"
)
_ZONE_OFFSET = re.compile(r"(?:utc|gmt)?\s?([+-])(\d{1,2})(?::?(\d\d))?")

ZoneFinder = Callable[[str], tzinfo | None]
"""Returns the time zone with this IANA name; None if it is unknown."""


class ResetTimeContext(Struct, frozen=True):
    """The time and zone of the text. ``zone`` is the agent machine's zone, for texts that name none."""

    now: int
    zone: tzinfo
    find_zone: ZoneFinder


def parse_reset_time(text: str, context: ResetTimeContext) -> int | None:
    """Return the time stated in the text, in nanoseconds since 1970; None if there is none."""
    line = " ".join(text.split())
    lower = line.lower()
    if (duration := _DURATION.search(lower)) is not None:
        parts = _DURATION_PART.findall(duration[1])
        return context.now + sum(int(number) * _SECONDS_BY_UNIT[unit] for number, unit in parts) * _NS
    zone = _find_zone(line, context)
    if zone is None:
        return None
    try:
        moment = _parse_iso_time(lower, zone) or _parse_time_of_day(lower, context.now, zone)
    except (ValueError, OverflowError):  # a time that does not exist, such as February 30
        return None
    return None if moment is None else _to_ns(moment)


def round_up_to_minute(end: int) -> int:
    """Return when a limit is certainly over, because texts state the end without seconds."""
    return end if end % _MINUTE_NS else end + _MINUTE_NS


def _find_zone(line: str, context: ResetTimeContext) -> tzinfo | None:
    """Return the zone named in the text, or else the machine's; None if the named zone is unknown."""
    match = _ZONE_NAME.search(line)
    if match is None:
        return context.zone
    name = (match[1] or match[2]).strip()
    if name.lower() in ("utc", "gmt", "z"):
        return UTC
    if (offset := _ZONE_OFFSET.fullmatch(name.lower())) is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes)) if minutes < 1440 else None
    return context.find_zone(name)


def _parse_iso_time(lower: str, zone: tzinfo) -> datetime | None:
    """Parse an ISO 8601 date and time."""
    match = _ISO_TIME.search(lower)
    if match is None:
        return None
    moment = datetime.fromisoformat(match[0].upper())
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def _parse_time_of_day(lower: str, now: int, zone: tzinfo) -> datetime | None:
    """Parse a time of day, with or without a date."""
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
    # Without a year, a date more than half a year ago means next year.
    is_next_year = date[3] is None and _to_ns(moment) < _to_ns(today - timedelta(days=180))
    return moment.replace(year=moment.year + 1) if is_next_year else moment


def _parse_hour(clock: re.Match[str]) -> int:
    if clock[4] is not None:
        return int(clock[4])
    hour = int(clock[1])
    if not 1 <= hour <= 12:
        raise ValueError("hour out of range")
    return hour % 12 + 12 * (clock[3] == "p")


def _to_ns(moment: datetime) -> int:
    return int(moment.timestamp()) * _NS
