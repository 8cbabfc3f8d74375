"""OSC marks, titles and the output of `codex exec --json` (0.166.0)."""

import json

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.agents.adapters.codex.adapter import is_printing_json
from tests.unit.agents.adapters.codex.codex_records import OWN_PROCESS, READ_AT, read_one_signal, read_signals


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("state=idle:app=codex", "idle"),
        ("state=working:app=codex", "running"),
        ("state=blocked:app=codex:kind=permission", "waiting_approval"),
        ("state=blocked:app=codex:kind=auth", "waiting_input"),
        ("state=blocked:app=codex", "waiting_input"),
        ("state=done:app=codex", "completed"),
        ("state=error:app=codex", "error"),
        ("state=clear", "unknown"),
        ("state=dancing:app=codex", "unknown"),
    ],
)
def test_a_mark_gives_its_state(text, state):
    assert read_one_signal("osc", text).state == state


def test_a_signal_has_the_process_hint_and_event_id_of_its_mark():
    signal = read_one_signal("osc", "state=idle:app=codex", hint=OWN_PROCESS, event_id="3@512")
    assert (signal.agent, signal.tier, signal.hint, signal.event_at) == ("codex", "deterministic", OWN_PROCESS, READ_AT)
    assert signal.dedupe_key != read_one_signal("osc", "state=idle:app=codex", event_id="3@900").dedupe_key


def test_a_missing_login_sets_auth_needed():
    assert read_one_signal("osc", "state=blocked:app=codex:kind=auth").flags.auth_needed


@pytest.mark.parametrize("text", ["state=idle:app=claude-code", "app=codex", "", "?"])
def test_other_marks_give_no_signal(text):
    assert read_signals("osc", text) == []


def test_an_unsupported_state_is_unknown():
    assert read_one_signal("osc", "state=dancing:app=codex").reason == "unsupported_signal"
    assert read_one_signal("osc", "state=clear").reason == "no_signal"


def test_a_title_that_requests_action_is_reported():
    for title in ("[ ! ] Action Required | src", "[ . ] Action Required | src"):
        signal = read_one_signal("title", title)
        assert (signal.state, signal.title, signal.tier) == ("waiting_approval", "src", "heuristic")


def test_any_other_title_gives_no_state():
    for title in ("⠋ src", "src"):
        signal = read_one_signal("title", title)
        assert (signal.state, signal.reason, signal.title) == ("unknown", "no_signal", "src")
    assert read_signals("title", "") == []


def test_titles_of_codex_are_recognized():
    assert ADAPTER.matches_title("[ ! ] Action Required | src")
    assert ADAPTER.matches_title("codex")
    assert not ADAPTER.matches_title("⠋ src")
    assert not ADAPTER.matches_title("my-codex-notes.md")


def test_a_record_of_an_unread_source_gives_no_signal():
    assert read_signals("registry", "{}") == []


THREAD = "01a1e3ce-a7c5-79e1-ab79-1720296fd10f"
LIMIT = "You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage … or try again at 1:02 PM."


def read_printed(**line):
    return read_one_signal("printed", line)


def has_no_signal(text: str) -> bool:
    return read_signals("printed", text) == []


@pytest.mark.parametrize(
    ("arguments", "is_json"),
    [
        (("exec", "--json", "fix it"), True),
        (("e", "-m", "x", "fix it", "--json"), True),
        (("exec", "--experimental-json", "resume", THREAD, "go on"), True),
        (("--json", "exec", "fix it"), True),
        (("exec", "fix it"), False),
        (("exec", "--", "--json"), False),
        (("exec", "-o", "--json", "fix it"), False),
        (("--json",), False),
        (("resume", "--json", THREAD), False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_codex_prints_json_only_with_the_option(arguments, is_json):
    assert is_printing_json(ProcessInfo(pid=7, argv=("codex", *arguments))) is is_json


def test_a_printed_run_gives_states_session_and_token_usage():
    began = read_printed(type="thread.started", thread_id=THREAD)
    assert (began.kind, began.state, began.session) == ("note", None, THREAD)
    assert read_printed(type="turn.started").state == "running"
    item = {"id": "item_1", "type": "command_execution", "command": "ls", "status": "in_progress"}
    worked = read_printed(type="item.started", item=item)
    assert (worked.state, worked.payload) == ("running", {"item": "command_execution"})
    used = {"input_tokens": 1500, "cached_input_tokens": 400, "output_tokens": 25, "reasoning_output_tokens": 5}
    ended = read_printed(type="turn.completed", usage=used)
    counts = {"total": 1525, "input": 1100, "output": 25, "cached": 400, "reasoning": 5}
    assert (ended.state, ended.payload) == ("completed", counts)


def test_a_retried_failure_is_a_note_and_a_failed_turn_is_an_error():
    tried = read_printed(type="error", message="Reconnecting... 1/5 (unexpected status 401 Unauthorized)")
    assert (tried.kind, tried.state) == ("note", None)
    failed = read_printed(type="turn.failed", error={"message": "unexpected status 401 Unauthorized: no such key"})
    assert (failed.state, failed.payload["error"], failed.flags.auth_needed) == ("error", "auth", True)
    limited = read_printed(type="turn.failed", error={"message": LIMIT})
    assert (limited.payload["error"], limited.flags.usage_limited) == ("usage_limit", True)
    assert limited.flags.resets_at


def test_a_warning_before_the_turn_gives_no_signal():
    assert has_no_signal(json.dumps({"type": "item.completed", "item": {"type": "error", "message": "no metadata"}}))


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"turn.started"',
        '{"type":"turn.started"} {"type":"turn.completed"}',
        '[{"type":"turn.started"}]',
        '"turn.started"',
        '{"type":["turn.started"]}',
        '{"type":"turn.begun"}',
        '{"type":"thread.started","thread_id":"../../etc/passwd"}',
        '{"type":"thread.started"}',
        '{"type":"item.started"}',
        '{"type":"item.started","item":"ls"}',
        '{"kind":"turn.started"}',
        "turn.started",
        "",
        "[" * 100_000,
    ],
    ids=lambda text: text[:40] or "nothing",
)
def test_malformed_lines_give_no_signal(text):
    assert has_no_signal(text)


def test_invalid_token_counts_are_ignored():
    for usage in (
        {"input_tokens": "many", "output_tokens": 1},
        {"input_tokens": -1, "output_tokens": 2},
        "all of them",
    ):
        assert read_printed(type="turn.completed", usage=usage).payload == {}


def test_the_resumed_thread_is_found_on_the_command_line():
    again = ProcessInfo(pid=7, argv=("codex", "exec", "--json", "resume", THREAD, "go on"))
    assert ADAPTER.find_resumed_session(again) == THREAD
    for arguments in (("exec", "fork", THREAD), ("exec", "resume", "--last"), ("exec", THREAD)):
        assert ADAPTER.find_resumed_session(ProcessInfo(pid=7, argv=("codex", *arguments))) == ""
