import logging

import msgspec
import pytest

from termvisor import __version__
from termvisor.clock import compute_seconds_between
from termvisor.errors import NotFound
from termvisor.ops.api.envelope import Envelope, build_failure, build_success, convert_exception, encode_json_line
from termvisor.ops.panes.list_sessions import SessionIdentity
from termvisor.testing.fake_clock import FakeClock


async def test_a_success_has_time_duration_and_version() -> None:
    clock = FakeClock()
    await clock.advance(0.25)
    answer = msgspec.json.decode(
        encode_json_line(build_success(SessionIdentity(target="local", session_name="a"), clock, 0.0))
    )
    assert answer == {
        "ok": True,
        "data": {"target": "local", "session_name": "a"},
        "error": None,
        "hint": None,
        "elapsed_ms": 250.0,
        "version": __version__,
        "schema_version": 1,
        "now": "2026-01-01T12:00:00.250Z",
    }


def test_a_failure_carries_code_details_and_hint() -> None:
    error = NotFound("no such pane", hint="Look.", details={"candidates": ["1"]})
    answer = build_failure(error, FakeClock(), 0.0)
    assert not answer.ok
    assert answer.error is not None
    assert (answer.error.code, answer.error.details, answer.hint) == ("pane_not_found", {"candidates": ["1"]}, "Look.")


def test_lone_surrogates_in_a_result_are_replaced() -> None:
    data = {"names": ["a\ud800b"], "\udc00": 1}
    line = encode_json_line(Envelope(ok=True, data=data, elapsed_ms=0.0, now=""))
    assert msgspec.json.decode(line)["data"] == {"names": ["a?b"], "?": 1}


def test_control_characters_are_escaped_and_decode_unchanged() -> None:
    data = {"text": "\x1b[2J\x7f\x9b31m\u202e\u2066\u061c\ufeff é日 \u2028"}
    line = encode_json_line(Envelope(ok=True, data=data, elapsed_ms=0.0, now=""))
    assert msgspec.json.decode(line)["data"] == data
    shown = line.decode()
    assert [char for char in "\x1b\x7f\x9b\u202e\u2066\u061c\ufeff\u2028" if char in shown] == []
    assert "é日" in shown


def test_visor_errors_are_not_converted() -> None:
    error = NotFound("x")
    assert convert_exception(error) is error


def test_an_unexpected_error_is_internal_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        error = convert_exception(KeyError("boom"))
    assert (error.code, error.exit_status) == ("internal", 70)
    assert "KeyError" in error.message
    assert "unexpected KeyError" in caplog.text


def test_seconds_between_instants_are_rounded_to_milliseconds() -> None:
    assert compute_seconds_between(0, 1_234_567_890) == 1.235


@pytest.mark.parametrize("text", ["x\x7fy", "x\x7fyé", "xy"])
def test_del_is_escaped_also_in_plain_ascii(text) -> None:
    line = encode_json_line(SessionIdentity(target="local", session_name=text))
    assert b"\x7f" not in line
    assert msgspec.json.decode(line)["session_name"] == text
