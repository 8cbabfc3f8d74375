from pathlib import Path

from termvisor.detection.packs.lint import find_typos, lint_rules
from tests.unit.detection.packs.rule_factory import VALID_RULE, build_rule, write_pack


def test_every_built_in_rule_passes_its_examples() -> None:
    linted = lint_rules(None)
    assert [str(trouble) for trouble in linted.problems] == []
    assert all(rule.hits and rule.misses for rule in linted.rules)


def test_a_file_a_pack_and_a_folder_of_packs_are_checked(tmp_path: Path) -> None:
    folder = write_pack(tmp_path, good=VALID_RULE, bad=VALID_RULE.replace("3 left", "x left"))
    place = folder / "org.local"
    paths = (folder, place, place / "good.toml", place / "bad.toml", place / "pack.toml")
    found = [lint_rules(str(path)) for path in paths]
    assert [len(one.rules) for one in found] == [1, 1, 1, 0, 0]
    assert [sorted({trouble.key for trouble in one.problems}) for one in found] == [["hit"], ["hit"], [], ["hit"], []]


def test_problems_of_pack_files_and_rule_files_are_reported(tmp_path: Path) -> None:
    place = write_pack(tmp_path, bad="id =") / "org.local"
    (place / "pack.toml").write_text("nome = 1")
    told = [lint_rules(str(path)).problems for path in (place, place / "bad.toml", place / "pack.toml")]
    assert ["nome" in str(told[0][0]), "is not valid TOML" in str(told[1][0]), "nome" in str(told[2][0])] == [True] * 3


OURS = [build_rule("a", agent="claude_code", remedy="handle_usage_limits"), build_rule("b", agent="codex")]


def test_a_typo_is_reported_with_a_suggestion() -> None:
    told = find_typos([build_rule("x", agent="cluade_code", remedy="handle_usage_limit")], OURS)
    assert [str(one) for one in told] == [
        "tool.said: agent: 'cluade_code' looks mistyped; did you mean claude_code?",
        "tool.said: remedy: 'handle_usage_limit' looks mistyped; did you mean handle_usage_limits?",
    ]


def test_unknown_agents_and_workflows_are_no_typos() -> None:
    assert find_typos([build_rule("x", agent="aider", remedy="page_me"), *OURS, build_rule("y")], OURS) == ()
