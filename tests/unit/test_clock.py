"""Formatting and parsing of instants (ns) and durations (s)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.clock import NS, SystemClock, format_timestamp, parse_duration, parse_timestamp
from termvisor.errors import BadRequest

NOW = 1_790_000_000 * NS
"""2026-09-21T14:13:20Z"""


def test_an_instant_is_written_in_utc_with_milliseconds() -> None:
    assert format_timestamp(NOW + 123_999_999) == "2026-09-21T14:13:20.123Z"


@given(st.integers(0, 4_000_000_000_000))
def test_a_written_instant_reads_back_to_the_millisecond(milliseconds: int) -> None:
    assert abs(parse_timestamp(format_timestamp(milliseconds * 1_000_000), NOW) - milliseconds * 1_000_000) < 1_000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("0.5", 0.5),
        ("250ms", 0.25),
        ("2s", 2),
        ("5m", 300),
        ("1h30m", 5400),
        ("7d", 604800),
        ("1w", 604800),
    ],
)
def test_durations_are_parsed(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "5 apples", "-3s", "5m ago", "1h-30m", "s"])
def test_an_invalid_duration_is_rejected_with_examples(text: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_duration(text)
    assert "30s" in caught.value.hint


def test_an_age_counts_back_from_now() -> None:
    assert parse_timestamp("10m", NOW) == NOW - 600 * NS
    assert parse_timestamp("1h30m", NOW) == NOW - 5400 * NS
    assert parse_timestamp("now", NOW) == NOW


def test_iso_times_keep_their_zone() -> None:
    assert parse_timestamp("2026-09-21T14:13:20Z", 0) == NOW
    assert parse_timestamp("2026-09-21T16:13:20+02:00", 0) == NOW


def test_today_began_within_the_last_day_and_yesterday_a_day_earlier() -> None:
    today = parse_timestamp("today", NOW)
    assert 0 <= NOW - today < 25 * 3600 * NS
    assert today - parse_timestamp("yesterday", NOW) == 86400 * NS


@pytest.mark.parametrize("text", ["", "tomorrowish", "2026-13-01", "12 o'clock"])
def test_an_invalid_time_is_rejected_with_examples(text: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_timestamp(text, NOW)
    assert "10m" in caught.value.hint


async def test_the_system_clock_never_runs_backwards() -> None:
    clock = SystemClock()
    at, before = clock.now(), clock.monotonic()
    await clock.sleep(0.001)
    assert clock.monotonic() > before
    assert clock.now() > at > 1_700_000_000 * NS
