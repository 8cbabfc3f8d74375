"""Lint of rules and packs."""

from pathlib import Path

from termvisor.detection.packs.lint import find_typos, lint_rules
from tests.unit.detection.packs.rule_factory import VALID_RULE, build_rule, write_pack


def test_every_built_in_rule_passes_its_examples() -> None:
    linted = lint_rules(None)
    assert [str(problem) for problem in linted.problems] == []
    assert all(rule.hits and rule.misses for rule in linted.rules)


def test_a_file_a_pack_and_a_folder_of_packs_are_checked(tmp_path: Path) -> None:
    folder = write_pack(tmp_path, good=VALID_RULE, bad=VALID_RULE.replace("3 left", "x left"))
    pack_folder = folder / "org.local"
    paths = (folder, pack_folder, pack_folder / "good.toml", pack_folder / "bad.toml", pack_folder / "pack.toml")
    found = [lint_rules(str(path)) for path in paths]
    assert [len(one.rules) for one in found] == [1, 1, 1, 0, 0]
    assert [sorted({problem.key for problem in one.problems}) for one in found] == [["hit"], ["hit"], [], ["hit"], []]


def test_problems_of_pack_files_and_rule_files_are_reported(tmp_path: Path) -> None:
    pack_folder = write_pack(tmp_path, bad="id =") / "org.local"
    (pack_folder / "pack.toml").write_text("nome = 1")
    problems = [
        lint_rules(str(path)).problems for path in (pack_folder, pack_folder / "bad.toml", pack_folder / "pack.toml")
    ]
    assert [
        "nome" in str(problems[0][0]),
        "is not valid TOML" in str(problems[1][0]),
        "nome" in str(problems[2][0]),
    ] == [True] * 3


OURS = [build_rule("a", agent="claude_code", remedy="handle_usage_limits"), build_rule("b", agent="codex")]


def test_a_typo_is_reported_with_a_suggestion() -> None:
    problems = find_typos([build_rule("x", agent="cluade_code", remedy="handle_usage_limit")], OURS)
    assert [str(one) for one in problems] == [
        "tool.said: agent: 'cluade_code' looks mistyped; did you mean claude_code?",
        "tool.said: remedy: 'handle_usage_limit' looks mistyped; did you mean handle_usage_limits?",
    ]


def test_unknown_agents_and_workflows_are_not_typos() -> None:
    assert find_typos([build_rule("x", agent="aider", remedy="page_me"), *OURS, build_rule("y")], OURS) == ()
