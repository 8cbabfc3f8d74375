"""Check whether a local time is within quiet hours, also across midnight."""

from termvisor.model.action.policy import WEEKDAYS, QuietHours
from termvisor.policy.request import LocalTime


def is_quiet_time(hours: QuietHours, local: LocalTime) -> bool:
    """Return True within the hours, which start on the listed days; equal start and end mean a whole day."""
    start, end = _parse_minutes(hours.since), _parse_minutes(hours.until)
    today = WEEKDAYS[local.weekday % 7] in hours.days
    yesterday = WEEKDAYS[(local.weekday - 1) % 7] in hours.days
    if start < end:
        return today and start <= local.minute < end
    return (today and local.minute >= start) or (yesterday and local.minute < end)


def _parse_minutes(text: str) -> int:
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)
