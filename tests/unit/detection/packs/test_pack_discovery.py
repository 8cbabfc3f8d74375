"""Folders and packages in which packs are found."""

import sys
from pathlib import Path

import pytest

from termvisor.detection.packs.loader import (
    find_builtin_pack,
    find_packs,
    get_user_folder,
    list_rule_files,
    read_pack,
    read_pack_file,
)
from termvisor.detection.packs.pack import RulePack, RuleProblem
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack


def test_a_pack_without_a_pack_file_is_named_after_its_folder(tmp_path: Path) -> None:
    (tmp_path / "org.mine").mkdir()
    assert read_pack_file(str(tmp_path / "org.mine"), "user") == RulePack(
        name="org.mine", origin="user", folder=str(tmp_path / "org.mine")
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('name = "a"', "version: is missing"),
        ('name = "a"\nversion = "1"\nauthor = "me"', ":3: author: is unknown"),
        ('name = ""\nversion = "1"', ":1: name: is not a text"),
        ("name", "is not valid TOML"),
    ],
)
def test_an_invalid_pack_file_is_a_problem(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "pack.toml").write_text(text)
    problem = read_pack_file(str(tmp_path), "user")
    assert isinstance(problem, RuleProblem)
    assert reason in str(problem)


def test_packs_of_an_installed_package_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "extra_rules"
    place.mkdir()
    (place / "__init__.py").write_text("")
    (place / "one.toml").write_text(VALID_RULE)
    info = tmp_path / "extra_rules-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(
        "[termvisor.packs]\norg.extra = extra_rules\norg.bad = extra_rules:nothing\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    every_one = list(find_packs(()))
    (problem,) = [one for one in every_one if isinstance(one, RuleProblem)]
    assert str(problem).startswith("org.bad: cannot be loaded: AttributeError")
    found = [one for one in every_one if isinstance(one, RulePack) and one.origin == "installed"]
    assert [(one.name, [Path(file).name for file in list_rule_files(one)]) for one in found] == [
        ("org.extra", ["one.toml"])
    ]


def test_hidden_folders_and_files_are_not_packs(tmp_path: Path) -> None:
    folder = write_pack(tmp_path, good=VALID_RULE)
    (folder / ".git").mkdir()
    (folder / "README.md").write_text("")
    assert [one.name for one in find_packs((str(folder),)) if isinstance(one, RulePack) and one.origin == "user"] == [
        "org.local"
    ]
    assert get_user_folder("/etc/x") == "/etc/x/packs"


def test_built_in_packs_are_found_by_their_folder() -> None:
    assert find_builtin_pack("codex").name == "core.codex"  # type: ignore[union-attr]
    assert find_builtin_pack("nobody") is None


def test_a_rule_outside_a_pack_is_a_problem(tmp_path: Path) -> None:
    folder = write_pack(tmp_path, good=VALID_RULE)
    (folder / "stray.toml").write_text(VALID_RULE)
    (problem,) = [one for one in find_packs((str(folder),)) if isinstance(one, RuleProblem)]
    assert str(problem) == f"{folder}/stray.toml: is not in a pack: move it into a folder such as {folder}/org.local"


def test_an_unreadable_folder_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "packs").write_text("a file where a folder should be")
    (problem,) = [one for one in find_packs((f"{tmp_path}/packs",)) if isinstance(one, RuleProblem)]
    assert str(problem) == f"{tmp_path}/packs: cannot be read: Not a directory"
    _, problems = read_pack(RulePack(name="a", folder=f"{tmp_path}/gone"), check_examples=True)
    assert [str(one) for one in problems] == [f"{tmp_path}/gone: cannot be read: No such file or directory"]


def test_the_matching_one_of_several_misses_is_named(tmp_path: Path) -> None:
    folder = write_pack(tmp_path, good=VALID_RULE + '\n[[miss]]\ntext = "tool: limit reached, 9 left"\n')
    _, (problem,) = read_pack(RulePack(name="org.local", folder=f"{folder}/org.local"), check_examples=True)
    assert (problem.line, problem.key) == (18, "miss")
