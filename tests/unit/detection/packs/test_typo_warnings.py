"""Typo warnings."""

from termvisor.detection.packs.typo_warnings import find_typos
from tests.unit.detection.packs.rule_factory import build_rule

OURS = [build_rule("a", agent="claude_code", remedy="handle_usage_limits"), build_rule("b", agent="codex")]


def test_a_typo_is_reported_with_a_suggestion() -> None:
    told = find_typos([build_rule("x", agent="cluade_code", remedy="handle_usage_limit")], OURS)
    assert [str(one) for one in told] == [
        "tool.said: agent: 'cluade_code' looks mistyped; did you mean claude_code?",
        "tool.said: remedy: 'handle_usage_limit' looks mistyped; did you mean handle_usage_limits?",
    ]


def test_unknown_agents_and_workflows_are_no_typos() -> None:
    assert find_typos([build_rule("x", agent="aider", remedy="page_me"), *OURS, build_rule("y")], OURS) == ()
