from termvisor.detection.packs.pack import Packs, Trouble
from tests.unit.detection.packs.making import rule


def test_a_trouble_reads_as_a_place_and_a_reason() -> None:
    assert str(Trouble(file="a.toml", line=3, key="scope", why="is wrong")) == "a.toml:3: scope: is wrong"
    assert str(Trouble(file="a.toml", why="is wrong")) == "a.toml: is wrong"


def test_rules_of_an_agent_come_in_their_order() -> None:
    late, early = rule("a", "x.late", agent="codex", order=2), rule("a", "x.early", agent="codex", order=1)
    packs = Packs(rules=(late, early, rule("a", "x.other")))
    assert packs.of_agent("codex", "line") == (early, late)
    assert packs.rule("x.none") is None
