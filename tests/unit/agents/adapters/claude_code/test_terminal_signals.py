"""OSC 7501: each state that the program prints."""

import base64

import pytest

from termvisor.agents.adapters.claude_code import ADAPTER
from tests.unit.agents.adapters.claude_code.claude_inputs import read_source_record


def encode_message(text: str) -> str:
    return f"msg={base64.b64encode(text.encode()).decode()}"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("state=idle:app=claude-code", "idle"),
        ("state=working:app=claude-code", "running"),
        ("state=done:app=claude-code", "completed"),
        ("state=blocked:app=claude-code:kind=permission", "waiting_approval"),
        ("state=blocked:app=claude-code:kind=question", "waiting_input"),
        ("state=blocked:app=claude-code:kind=auth", "waiting_input"),
        (f"state=error:app=claude-code:{encode_message('API Error')}", "error"),
        ("state=levitating:app=claude-code", "unknown"),
    ],
)
def test_a_mark_gives_its_state(text: str, state: str) -> None:
    (signal,) = read_source_record("osc", text, event_id="3@90")
    assert (signal.state, signal.source, signal.dedupe_key) == (state, "osc", signal.dedupe_key)


def test_a_permission_mark_has_its_message() -> None:
    (signal,) = read_source_record(
        "osc", f"state=blocked:app=claude-code:kind=permission:{encode_message('approve Bash: touch zz')}"
    )
    assert signal.payload == {"message": "approve Bash: touch zz"}


def test_a_missing_login_and_a_usage_limit_set_flags() -> None:
    (login,) = read_source_record("osc", "state=blocked:app=claude-code:kind=auth")
    (limit,) = read_source_record(
        "osc", f"state=error:app=claude-code:{encode_message('You’ve hit your limit · resets 7:19am (UTC)')}"
    )
    assert login.flags.auth_needed is True
    assert limit.flags.usage_limited is True
    assert limit.flags.resets_at is not None


def test_clear_means_source_down() -> None:
    assert [signal.kind for signal in read_source_record("osc", "state=clear")] == ["source_down"]


@pytest.mark.parametrize("text", ["?", "state=working:app=codex", ""])
def test_a_query_or_a_mark_of_another_program_gives_no_signal(text: str) -> None:
    assert read_source_record("osc", text) == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("✳ Claude Code", ""),
        ("Claude Code", ""),
        ("✳ Mend the build", "Mend the build"),
        ("⠂ Mend it", "Mend it"),
        ("", ""),
    ],
)
def test_the_title_is_read_without_its_status_character(text: str, title: str) -> None:
    (signal,) = read_source_record("title", text)
    assert (signal.kind, signal.tier, signal.title) == ("note", "heuristic", title)


@pytest.mark.parametrize(
    ("title", "is_match"), [("✳ Claude Code", True), ("Claude Code", True), ("vim claude.md", False)]
)
def test_a_title_of_claude_is_recognized(title: str, is_match: bool) -> None:
    assert ADAPTER.matches_title(title) is is_match
