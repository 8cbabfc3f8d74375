"""What things are called."""

import pytest

from termvisor.agents.state.titles import LONGEST, Known, clean, known_titles, title
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import ONE, knowing, says

ALL = {"own_name": "own", "past_title": "past", "live_title": "live", "path": "/src"}


@pytest.mark.parametrize("expected", list(ALL))
def test_the_best_name_there_is(expected: str) -> None:
    best_first = list(ALL)
    left = {name: ALL[name] for name in best_first[best_first.index(expected) :]}
    assert title(Known(**left), "pane 7") == ALL[expected]


def test_without_any_name_it_is_the_fallback() -> None:
    assert title(Known(live_title=" ✳ "), "pane 7") == "pane 7"


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
        ("x" * 200, "x" * (LONGEST - 1) + "…"),
        ("", ""),
    ],
)
def test_titles_are_cleaned(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_names_come_from_the_best_source_that_told_one() -> None:
    heard = [
        says(1, "title", kind="note", title="✳ Claude Code"),
        says(2, "hook", kind="note", title="from a hook"),
        says(3, "registry", kind="note", title="claude-47"),
    ]
    assert known_titles(knowing(*heard).ledgers[ONE], "claude_code", DEFAULT) == ("claude-47", "✳ Claude Code")
