"""Titles of sessions."""

import pytest

from termvisor.agents.state.titles import (
    MAX_TITLE_CHARS,
    TitleCandidates,
    find_session_titles,
    sanitize_title,
    select_title,
)
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import ONE, build_knowledge, build_signal

ALL = {"own_name": "own", "past_title": "past", "live_title": "live", "path": "/src"}


@pytest.mark.parametrize("expected", list(ALL))
def test_the_best_candidate_is_selected(expected: str) -> None:
    best_first = list(ALL)
    left = {name: ALL[name] for name in best_first[best_first.index(expected) :]}
    assert select_title(TitleCandidates(**left), "pane 7") == ALL[expected]


def test_without_candidates_the_fallback_is_used() -> None:
    assert select_title(TitleCandidates(live_title=" ✳ "), "pane 7") == "pane 7"


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
        ("x" * 200, "x" * (MAX_TITLE_CHARS - 1) + "…"),
        ("", ""),
    ],
)
def test_titles_are_sanitized(text: str, expected: str) -> None:
    assert sanitize_title(text) == expected


def test_titles_come_from_the_best_source() -> None:
    heard = [
        build_signal(1, "title", kind="note", title="✳ Claude Code"),
        build_signal(2, "hook", kind="note", title="from a hook"),
        build_signal(3, "registry", kind="note", title="claude-47"),
    ]
    assert find_session_titles(build_knowledge(*heard).source_slots[ONE], "claude_code", DEFAULT_THRESHOLDS) == (
        "claude-47",
        "✳ Claude Code",
    )
