"""The session registry: a state for every status, only of the right process."""

import json

import pytest

from termvisor.model.agent.signal import ProcessHint, Signal
from tests.unit.agents.adapters.claude_code.claude_inputs import NOW, SESSION, read_source_record

HINT = ProcessHint(pid=42, pid_started=77000)
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


def read_registry(hint: ProcessHint = HINT, **fields: object) -> list[Signal]:
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
def test_a_status_gives_a_state(status: str, waiting_for: str | None, state: str) -> None:
    fields = {"waitingFor": waiting_for} if waiting_for else {}
    (signal,) = read_registry(status=status, **fields)
    assert (signal.state, signal.session, signal.event_at) == (state, SESSION, NOW - 30 * 10**6)
    assert (signal.hint.pid, signal.hint.pid_started) == (42, 77000)


def test_an_unsupported_status_is_unknown() -> None:
    (signal,) = read_registry(status="pondering")
    assert (signal.state, signal.reason) == ("unknown", "unsupported_signal")


def test_a_file_without_a_status_is_a_note() -> None:
    (signal,) = read_registry()
    assert (signal.kind, signal.state, signal.payload["version"]) == ("note", None, "2.1.325")


def test_a_file_without_a_status_has_the_start_time() -> None:
    (signal,) = read_registry(updatedAt=0, statusUpdatedAt=0, startedAt=NOW // 10**6 - 900)
    assert signal.event_at == NOW - 900 * 10**6


def test_a_file_of_another_process_with_the_same_pid_is_ignored() -> None:
    assert read_registry(ProcessHint(pid=42, pid_started=99000), status="busy") == []
    assert read_registry(ProcessHint(pid=43), status="busy") == []


def test_a_removed_file_means_source_down_not_exit() -> None:
    (signal,) = read_source_record("registry", "", hint=HINT)
    assert (signal.kind, signal.hint) == ("source_down", HINT)


def test_a_name_given_by_the_user_is_the_title_and_a_derived_one_is_not() -> None:
    assert read_registry(status="idle")[0].title is None
    assert read_registry(status="idle", name="the big refactoring", nameSource="user")[0].title == "the big refactoring"
