"""The frame around what agents say, and how JSON of strangers is looked into."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.base import Record
from termvisor.agents.evidence import (
    Said,
    hook_of,
    inside,
    moment,
    not_understood,
    number,
    parsed,
    payload,
    signal,
    text,
)
from tests.unit.agents.saying import NOW

RECORD = Record(source="hook", text="", at=NOW, event_id="0@9", seq=9, life=2)


def test_a_signal_carries_its_record():
    told = signal("gemini", RECORD, Said(state="running", session="s", at=NOW - 5))
    assert (told.agent, told.source, told.tier, told.session) == ("gemini", "hook", "deterministic", "s")
    assert (told.source_seq, told.source_life, told.event_at, told.ingested_at) == (9, 2, NOW - 5, NOW)
    assert told.moved_at is None


def test_what_a_pane_shows_is_a_look_and_proves_that_it_moved():
    told = signal("gemini", Record(source="title", text="", at=NOW), Said(state="running"))
    assert (told.tier, told.moved_at) == ("heuristic", NOW)


def test_two_things_that_one_record_says_are_two_pieces_of_evidence():
    said = [Said(state="idle"), Said(kind="note"), Said(kind="task_began", task="a"), Said(kind="task_began", task="b")]
    assert len({signal("opencode", RECORD, one).dedupe_key for one in said}) == 4


def test_what_is_not_understood_is_unknown_with_its_reason():
    said = not_understood("x" * 5000)
    assert (said.state, said.reason, len(str(said.payload["said"]))) == ("unknown", "unsupported_signal", 2000)


def test_a_line_of_the_spool_tells_the_event_its_time_and_its_payload():
    line = {"event": "Stop", "at": 1_794_802_560_123, "payload": {"a": 1}}
    hook = hook_of(Record(source="hook", text=json.dumps(line), at=NOW))
    assert hook is not None
    assert (hook.event, hook.at, hook.payload) == ("Stop", 1_794_802_560_123_000_000, {"a": 1})


@pytest.mark.parametrize("line", ["", "{", "[1]", "null", '{"event": 1}', '{"at": 1}', "[" * 5000])
def test_what_no_hook_wrote_is_none(line):
    assert hook_of(Record(source="hook", text=line, at=NOW)) is None


@given(st.text())
def test_any_text_is_json_or_not(words):
    found = parsed(words)
    assert found is None or isinstance(found, dict)


def test_missing_and_misplaced_values_are_empty():
    value = {"a": {"b": {"c": "d"}}, "n": 3, "f": 2.7, "t": True, "bad": -1, "huge": 1e300}
    assert inside(value, "a", "b") == {"c": "d"}
    assert inside(value, "a", "x", "y") == {}
    assert (text(value, "n"), text(value, "none")) == ("", "")
    counts = [number(value, name) for name in ("n", "f", "t", "bad", "huge", "none")]
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
def test_an_instant_is_told_in_milliseconds_or_with_its_zone(value, expected):
    assert moment(value) == expected


def test_secrets_are_no_payload():
    assert payload(command="export API_KEY=sk-ant-api03-" + "a" * 80, empty="", none=None, zero=0)["zero"] == 0
    assert "a" * 80 not in str(payload(command="export API_KEY=sk-ant-api03-" + "a" * 80))
