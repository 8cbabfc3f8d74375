"""Titles of sessions."""

import pytest

from termvisor.agents.state.titles import (
    MAX_TITLE_CHARS,
    find_session_titles,
    sanitize_title,
    select_title,
)
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import ONE, build_knowledge, build_signal


@pytest.mark.parametrize("candidates", [("own", "past"), ("", "own", "past"), (" ✳ ", "own")])
def test_the_first_candidate_with_text_is_selected(candidates: tuple[str, ...]) -> None:
    assert select_title(candidates, "pane 7") == "own"


def test_without_candidates_the_fallback_is_used() -> None:
    assert select_title(("", " ✳ "), "pane 7") == "pane 7"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("✳ Fix the build", "Fix the build"),
        ("⠋ src", "src"),
        ("[ ! ] Action Required | src", "[ ! ] Action Required | src"),
        ("✋  Action Required (src)", "Action Required (src)"),
        ("~/src", "~/src"),
        ("a\x1b]0;b\x07\nc", "a ]0;b c"),
        ("abc\u202etxt", "abc txt"),
        ("x" * MAX_TITLE_CHARS, "x" * MAX_TITLE_CHARS),
        ("x" * 200, "x" * (MAX_TITLE_CHARS - 1) + "…"),
        ("", ""),
    ],
)
def test_titles_are_sanitized(text: str, expected: str) -> None:
    assert sanitize_title(text) == expected


def test_titles_come_from_the_best_source() -> None:
    signals = [
        build_signal(1, "title", kind="note", title="✳ Claude Code"),
        build_signal(2, "hook", kind="note", title="from a hook"),
        build_signal(3, "registry", kind="note", title="claude-47"),
    ]
    assert find_session_titles(build_knowledge(*signals).source_slots[ONE], "claude_code", DEFAULT_THRESHOLDS) == (
        "claude-47",
        "✳ Claude Code",
    )
