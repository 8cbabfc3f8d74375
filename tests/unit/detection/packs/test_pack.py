"""Text of a rule problem, and the order of rules."""

from termvisor.detection.packs.pack import RulePacks, RuleProblem
from tests.unit.detection.packs.rule_factory import build_rule


def test_a_problem_reads_as_location_and_reason() -> None:
    assert str(RuleProblem(file="a.toml", line=3, key="scope", why="is wrong")) == "a.toml:3: scope: is wrong"
    assert str(RuleProblem(file="a.toml", why="is wrong")) == "a.toml: is wrong"


def test_rules_of_an_agent_come_in_their_order() -> None:
    late, early = build_rule("a", "x.late", agent="codex", order=2), build_rule("a", "x.early", agent="codex", order=1)
    packs = RulePacks(rules=(late, early, build_rule("a", "x.other")))
    assert packs.list_agent_rules("codex", "line") == (early, late)
    assert packs.find_rule("x.none") is None
