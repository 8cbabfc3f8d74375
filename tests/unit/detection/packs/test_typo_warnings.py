"""Names that look mistyped, and names that are merely others."""

from termvisor.detection.packs.typo_warnings import find_typos
from tests.unit.detection.packs.rule_factory import build_rule

OURS = [build_rule("a", agent="claude_code", remedy="handle_usage_limits"), build_rule("b", agent="codex")]


def test_a_slip_is_told_with_what_was_meant() -> None:
    told = find_typos([build_rule("x", agent="cluade_code", remedy="handle_usage_limit")], OURS)
    assert [str(one) for one in told] == [
        "tool.said: agent: 'cluade_code' looks mistyped; did you mean claude_code?",
        "tool.said: remedy: 'handle_usage_limit' looks mistyped; did you mean handle_usage_limits?",
    ]


def test_agents_and_workflows_of_others_are_nobodys_slip() -> None:
    assert find_typos([build_rule("x", agent="aider", remedy="page_me"), *OURS, build_rule("y")], OURS) == ()
