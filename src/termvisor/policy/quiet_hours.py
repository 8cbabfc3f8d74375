"""Quiet hours: whether a local time lies within them, also over midnight."""

from termvisor.model.action.policy import WEEKDAYS, QuietHours
from termvisor.policy.request import LocalTime


def is_quiet_time(hours: QuietHours, local: LocalTime) -> bool:
    """The days are those on which the hours begin; the same time twice means a whole day."""
    begin, end = _parse_minutes(hours.since), _parse_minutes(hours.until)
    today = WEEKDAYS[local.weekday % 7] in hours.days
    yesterday = WEEKDAYS[(local.weekday - 1) % 7] in hours.days
    if begin < end:
        return today and begin <= local.minute < end
    return (today and local.minute >= begin) or (yesterday and local.minute < end)


def _parse_minutes(text: str) -> int:
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)
