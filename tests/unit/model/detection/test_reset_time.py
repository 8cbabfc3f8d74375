"""Parsing of the end of a usage limit from agents' texts."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.model.detection.reset_time import ResetTimeContext, parse_reset_time, round_up_to_minute

NS = 10**9
ZONES = {name: ZoneInfo(name) for name in ("Europe/Berlin", "America/New_York", "Asia/Kolkata")}


def parse_instant(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * NS


def build_context(now: str, zone: tzinfo = UTC) -> ResetTimeContext:
    return ResetTimeContext(parse_instant(now), zone, ZONES.get)


NOON = "2026-11-15T12:00:00"
WORDS: list[tuple[str, str, str]] = [
    ("You've hit your limit · resets 3pm (Europe/Berlin)", NOON, "2026-11-15T14:00"),
    ("You've hit your 5-hour limit · resets 10:54pm (UTC)", NOON, "2026-11-15T22:54"),
    ("limit resets 10:54pm", NOON, "2026-11-15T22:54"),
    ("You’ve hit your usage limit. … try again at 11:02 PM.", NOON, "2026-11-15T23:02"),
    ("resets 3am (Europe/Berlin)", NOON, "2026-11-16T02:00"),
    ("resets 12am (UTC)", NOON, "2026-11-16T00:00"),
    ("resets 12pm (UTC)", "2026-11-15T08:00:00", "2026-11-15T12:00"),
    ("resets 11:55am", NOON, "2026-11-15T11:55"),
    ("resets 11:45am", NOON, "2026-11-16T11:45"),
    ("resets 18:30 (Asia/Kolkata)", NOON, "2026-11-15T13:00"),
    ("resets Nov 20 at 5pm (America/New_York)", NOON, "2026-11-20T22:00"),
    ("try again at Nov 20th, 2026 11:02 PM.", NOON, "2026-11-20T23:02"),
    ("resets January 2 at 9am", NOON, "2027-01-02T09:00"),
    ("resets 3pm UTC+2", NOON, "2026-11-15T13:00"),
    ("resets 3pm (GMT-05:30)", NOON, "2026-11-15T20:30"),
    ("try again in 2h 15m", NOON, "2026-11-15T14:15"),
    ("try again in 1 day, 2 hours and 5 minutes.", NOON, "2026-11-16T14:05"),
    ("Retry after 2026-11-16T01:02:03Z", NOON, "2026-11-16T01:02:03"),
    ("resets_at 2026-11-16 01:02", NOON, "2026-11-16T01:02"),
    ("(5h limit) resets 3pm", NOON, "2026-11-15T15:00"),
    ("resets 2:30am (Europe/Berlin)", "2026-03-28T22:00:00", "2026-03-29T01:30"),
    ("resets 3pm (Europe/Berlin)", "2026-10-24T14:00:00", "2026-10-25T14:00"),
]


@pytest.mark.parametrize(("words", "now", "expected"), WORDS, ids=[one[0] for one in WORDS])
def test_text_is_parsed_to_a_time(words: str, now: str, expected: str) -> None:
    assert parse_reset_time(words, build_context(now)) == parse_instant(expected)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Usage limit reached for all Pro models",
        "less than 25% of your 5h limit",
        "resets 3pm (Atlantis/Capital)",
        "resets 3pm (PST)",
        "resets 25:99",
        "resets 13pm",
        "resets Feb 30 at 5pm",
        "resets 3pm (UTC+99)",
        "2026-13-45T99:99",
    ],
)
def test_text_without_a_valid_time_returns_none(words: str) -> None:
    assert parse_reset_time(words, build_context(NOON)) is None


def test_text_without_a_zone_uses_the_machines_zone() -> None:
    there = timezone(timedelta(hours=-8))
    assert parse_reset_time("resets 3pm", build_context(NOON, there)) == parse_instant("2026-11-15T23:00")


@given(st.text(alphabet="0123456789:apm ()+-/UTCinhresetNovFb,.", max_size=40))
def test_any_text_is_accepted(words: str) -> None:
    found = parse_reset_time(words, build_context(NOON))
    assert found is None or isinstance(found, int)


@given(st.integers(0, 23), st.integers(0, 59), st.sampled_from(sorted(ZONES)), st.integers(0, 10**9))
def test_a_time_of_day_is_at_most_a_day_ahead_and_never_long_ago(hour: int, minute: int, zone: str, now: int) -> None:
    found = parse_reset_time(f"resets {hour}:{minute:02d} ({zone})", ResetTimeContext(now * NS, UTC, ZONES.get))
    assert found is not None
    assert -600 - 3600 <= found // NS - now <= 25 * 3600


def test_end_without_seconds_is_rounded_up_to_the_next_minute():
    minute = 60 * 10**9
    assert round_up_to_minute(7 * minute) == 8 * minute
    assert round_up_to_minute(7 * minute + 1) == 7 * minute + 1
