"""Access to untrusted JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.json_access import get_int, get_object, get_str, parse_json_object, parse_timestamp
from tests.unit.agents.adapters.adapter_inputs import NOW


@given(st.text())
def test_any_text_gives_an_object_or_none(text):
    found = parse_json_object(text)
    assert found is None or isinstance(found, dict)


def test_missing_and_misplaced_values_are_empty():
    value = {"a": {"b": {"c": "d"}}, "n": 3, "f": 2.7, "t": True, "bad": -1, "huge": 1e300}
    assert get_object(value, "a", "b") == {"c": "d"}
    assert get_object(value, "a", "x", "y") == {}
    assert (get_str(value, "n"), get_str(value, "none")) == ("", "")
    counts = [get_int(value, name) for name in ("n", "f", "t", "bad", "huge", "none")]
    assert counts == [3, 2, None, None, None, None]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-16T04:16:00.250Z", NOW + 250_000_000),
        (NOW // 10**6, NOW),
        ("2026-11-16T04:16:00", 0),
        ("soon", 0),
        ("", 0),
        (None, 0),
        (-5, 0),
        (1 << 80, 0),
    ],
)
def test_timestamps_are_milliseconds_or_iso_with_zone(value, expected):
    assert parse_timestamp(value) == expected


def test_json_that_is_not_an_object_is_none():
    assert (parse_json_object("[1]"), parse_json_object("[" * 5000), parse_json_object("null")) == (None, None, None)
