"""The session registry: a state for every status, only of the right process."""

import json

import pytest

from termvisor.model.agent.signal import ProcessHint, Signal
from tests.unit.agents.adapters.claude_code.claude_inputs import NOW, SESSION, read_source_record

MEANT = ProcessHint(pid=42, pid_started=77000)
FILE = {
    "pid": 42,
    "sessionId": SESSION,
    "procStart": "77000",
    "version": "2.1.325",
    "tmux": "work:@0.%5",
    "name": "work-8f",
    "nameSource": "derived",
    "updatedAt": NOW // 10**6 - 30,
    "statusUpdatedAt": NOW // 10**6 - 30,
}


def said(hint: ProcessHint = MEANT, **fields: object) -> list[Signal]:
    return read_source_record("registry", json.dumps({**FILE, **fields}), hint=hint)


@pytest.mark.parametrize(
    ("status", "waiting_for", "state"),
    [
        ("idle", None, "idle"),
        ("busy", None, "running"),
        ("shell", None, "running"),
        ("waiting", "permission prompt", "waiting_approval"),
        ("waiting", "sandbox request", "waiting_approval"),
        ("waiting", "input needed", "waiting_input"),
        ("waiting", "dialog open", "waiting_input"),
        ("waiting", "something of tomorrow", "waiting_input"),
    ],
)
def test_a_status_is_a_state(status: str, waiting_for: str | None, state: str) -> None:
    asked = {"waitingFor": waiting_for} if waiting_for else {}
    (signal,) = said(status=status, **asked)
    assert (signal.state, signal.session, signal.event_at) == (state, SESSION, NOW - 30 * 10**6)
    assert (signal.hint.pid, signal.hint.pid_started) == (42, 77000)


def test_an_unsupported_status_is_unknown() -> None:
    (signal,) = said(status="pondering")
    assert (signal.state, signal.reason) == ("unknown", "unsupported_signal")


def test_before_its_first_status_it_tells_its_session_only() -> None:
    (signal,) = said()
    assert (signal.kind, signal.state, signal.payload["version"]) == ("note", None, "2.1.325")


def test_what_it_says_before_its_first_status_is_never_newer_than_that() -> None:
    (signal,) = said(updatedAt=0, statusUpdatedAt=0, startedAt=NOW // 10**6 - 900)
    assert signal.event_at == NOW - 900 * 10**6


def test_the_file_of_a_dead_process_with_the_same_number_says_nothing() -> None:
    assert said(ProcessHint(pid=42, pid_started=99000), status="busy") == []
    assert said(ProcessHint(pid=43), status="busy") == []


def test_a_removed_file_means_source_down_not_exit() -> None:
    (signal,) = read_source_record("registry", "", hint=MEANT)
    assert (signal.kind, signal.hint) == ("source_down", MEANT)


def test_a_given_name_is_a_title_but_not_a_derived_one() -> None:
    assert said(status="idle")[0].title is None
    assert said(status="idle", name="the big refactoring", nameSource="user")[0].title == "the big refactoring"
