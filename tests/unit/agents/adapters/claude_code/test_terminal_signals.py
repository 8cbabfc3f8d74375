"""OSC 7501: each state that the program prints."""

import base64

import pytest

from termvisor.agents.adapters.claude_code import ADAPTER
from tests.unit.agents.adapters.claude_code.claude_inputs import read_source_record


def msg(text: str) -> str:
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
        (f"state=error:app=claude-code:{msg('API Error')}", "error"),
        ("state=levitating:app=claude-code", "unknown"),
    ],
)
def test_a_state_is_a_state(text: str, state: str) -> None:
    (signal,) = read_source_record("osc", text, event_id="3@90")
    assert (signal.state, signal.source, signal.dedupe_key) == (state, "osc", signal.dedupe_key)


def test_what_it_asks_can_be_shown() -> None:
    (signal,) = read_source_record(
        "osc", f"state=blocked:app=claude-code:kind=permission:{msg('approve Bash: touch zz')}"
    )
    assert signal.payload == {"message": "approve Bash: touch zz"}


def test_a_missing_login_and_a_limit_are_flags() -> None:
    (login,) = read_source_record("osc", "state=blocked:app=claude-code:kind=auth")
    (limit,) = read_source_record(
        "osc", f"state=error:app=claude-code:{msg('You’ve hit your limit · resets 7:19am (UTC)')}"
    )
    assert login.flags.auth_needed is True
    assert limit.flags.usage_limited is True
    assert limit.flags.resets_at is not None


def test_clear_means_source_down() -> None:
    assert [signal.kind for signal in read_source_record("osc", "state=clear")] == ["source_down"]


@pytest.mark.parametrize("text", ["?", "state=working:app=codex", ""])
def test_a_question_and_another_program_are_not_its_words(text: str) -> None:
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
def test_its_words_are_the_title(text: str, title: str) -> None:
    (signal,) = read_source_record("title", text)
    assert (signal.kind, signal.tier, signal.title) == ("note", "heuristic", title)


@pytest.mark.parametrize(
    ("title", "is_its"), [("✳ Claude Code", True), ("Claude Code", True), ("vim claude.md", False)]
)
def test_a_title_names_it_or_does_not(title: str, is_its: bool) -> None:
    assert ADAPTER.matches_title(title) is is_its
