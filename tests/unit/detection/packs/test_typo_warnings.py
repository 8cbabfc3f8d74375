"""Names that look mistyped, and names that are merely others."""

from termvisor.detection.packs.typo_warnings import doubts
from tests.unit.detection.packs.making import rule

OURS = [rule("a", agent="claude_code", remedy="handle_usage_limits"), rule("b", agent="codex")]


def test_a_slip_is_told_with_what_was_meant() -> None:
    told = doubts([rule("x", agent="cluade_code", remedy="handle_usage_limit")], OURS)
    assert [str(one) for one in told] == [
        "tool.said: agent: 'cluade_code' looks mistyped; did you mean claude_code?",
        "tool.said: remedy: 'handle_usage_limit' looks mistyped; did you mean handle_usage_limits?",
    ]


def test_agents_and_workflows_of_others_are_nobodys_slip() -> None:
    assert doubts([rule("x", agent="aider", remedy="page_me"), *OURS, rule("y")], OURS) == ()
