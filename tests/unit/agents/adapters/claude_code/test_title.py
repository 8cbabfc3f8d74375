"""Pane titles of Claude Code."""

import pytest

from termvisor.agents.adapters.claude_code import ADAPTER
from tests.unit.agents.adapters.claude_code.claude_inputs import read_source_record


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
