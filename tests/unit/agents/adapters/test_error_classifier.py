"""Classification of error messages and reset times."""

from datetime import datetime

import pytest

from termvisor.agents.adapters.error_classifier import (
    build_error_flags,
    classify_error,
    extract_message,
    find_any_reset_time,
    find_local_reset_time,
    find_reset_time,
    find_zoned_reset_time,
)
from tests.unit.agents.adapters.adapter_inputs import NOW

HOUR = 3600 * 10**9
LIMIT = '{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":1794813986}'


@pytest.mark.parametrize(
    ("message", "status", "expected"),
    [
        ("The usage limit has been reached", 429, "usage_limit"),
        ("You have exhausted your daily quota on this model.", None, "usage_limit"),
        ("Incorrect API key provided: dummy.", None, "auth"),
        ("Authentication failed with provider (HTTP 401).", None, "auth"),
        ("no", 403, "auth"),
        ("Rate limit reached for mock-model. Please try again in 20s.", None, "rate_limit"),
        ("slow down", 429, "rate_limit"),
        ("The server had an error while processing your request.", 500, "other"),
        ("wrote 4010 quotas of bytes", None, "other"),
    ],
)
def test_an_error_message_has_a_kind(message, status, expected):
    assert classify_error(message, status) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (LIMIT, 1_794_813_986 * 10**9),
        ('{"resets_in_seconds": 60}', NOW + 60 * 10**9),
        ("Your limit resets in 2h 15m.", NOW + 8100 * 10**9),
        ("Your limit resets at 3pm.", None),
        ("{broken", None),
        ("", None),
    ],
)
def test_only_certain_reset_times_are_parsed(message, expected):
    assert find_reset_time(message, NOW) == expected


def test_flags_follow_the_kind():
    limited = build_error_flags("usage_limit", LIMIT, NOW)
    assert (limited.usage_limited, limited.resets_at) == (True, 1_794_813_986 * 10**9)
    assert build_error_flags("auth", "", NOW).auth_needed is True
    assert build_error_flags("other", "", NOW).usage_limited is None


def test_the_message_is_extracted_from_json():
    assert extract_message(LIMIT) == "The usage limit has been reached"
    assert extract_message('{"error":{"message":"API key not valid."}}') == "API key not valid."
    assert extract_message("plain words") == "plain words"


def test_a_reset_time_needs_a_known_zone() -> None:
    assert find_zoned_reset_time("resets 7:16am (UTC)", NOW) == NOW + 3 * HOUR
    assert find_zoned_reset_time("resets 8:16am (Europe/Berlin)", NOW) == NOW + 3 * HOUR
    assert find_zoned_reset_time("limit resets 7:16am", NOW) is None
    assert find_zoned_reset_time("resets 7:16am (Nowhere/Land)", NOW) is None
    assert find_zoned_reset_time("resets 7:16am (../../etc/passwd)", NOW) is None


def test_a_local_reset_time_is_in_the_local_zone():
    end = find_local_reset_time("… or try again at 11:02 PM.", NOW)
    assert end is not None
    reset_time = datetime.fromtimestamp(end // 10**9)
    assert (reset_time.hour, reset_time.minute) == (23, 2)
    assert 0 < end - NOW < 24 * HOUR
    assert find_local_reset_time("resets at 11:02 PM", NOW) is None


def test_reset_times_are_parsed_in_each_agents_format():
    assert build_error_flags("usage_limit", "resets 7:16am (UTC)", NOW).resets_at is None
    assert (
        build_error_flags("usage_limit", "resets 7:16am (UTC)", NOW, find_zoned_reset_time).resets_at == NOW + 3 * HOUR
    )


def test_a_reset_time_in_utc_is_parsed_and_an_ambiguous_zone_is_not() -> None:
    morning = 1_767_261_600 * 10**9  # 10:00 UTC
    assert find_any_reset_time("Access resets at 11:10 AM UTC.", morning) == morning + 70 * 60 * 10**9
    assert find_any_reset_time("Access resets at 11:10 AM PST.", morning) is None
    assert find_any_reset_time("Access resets at 11:10 AM GMT+2.", morning) is None
    assert find_any_reset_time("try again in 5 minutes", morning) == morning + 300 * 10**9
