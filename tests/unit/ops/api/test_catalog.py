import subprocess
import sys
from pathlib import Path

import pytest

from termvisor.errors import UnknownCommand
from termvisor.ops.api import catalog
from termvisor.ops.api.catalog import (
    COMMAND_ALIASES,
    OPERATION_NAMES,
    OPERATIONS_BY_ROBOT_NAME,
    STREAM_OPERATIONS,
    find_operation,
    load_all_operations,
    load_by_any_name,
)

FOLDER = Path(catalog.__file__).parents[1]


def test_the_tables_match_the_declarations() -> None:
    ops = load_all_operations()
    assert [op.name for op in ops] == list(OPERATION_NAMES)
    assert {alias: op.name for op in ops for alias in op.aliases} == COMMAND_ALIASES
    assert {op.robot_name: op.name for op in ops if op.robot_name} == OPERATIONS_BY_ROBOT_NAME
    assert tuple(op.name for op in ops if op.is_stream) == STREAM_OPERATIONS


def test_every_module_that_declares_an_operation_is_in_the_table() -> None:
    declaring = {path.stem for path in FOLDER.glob("*/*.py") if "\nOP = " in path.read_text()}
    assert declaring == set(OPERATION_NAMES)


def test_finding_one_operation_imports_no_other() -> None:
    code = (
        "import sys; from termvisor.ops.api.catalog import find_operation; find_operation(['gaps'], False);"
        "print(*sorted(name for name in sys.modules if name.startswith('termvisor.ops.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name.rpartition(".")[2] for name in loaded} & set(OPERATION_NAMES) == {"list_gaps"}


@pytest.mark.parametrize(
    ("argv", "is_robot", "name", "rest"),
    [
        ([], False, "quick_start", []),
        ([], True, "quick_start", []),
        (["--json"], False, "quick_start", []),
        (["panes", "--session", "a"], False, "list_panes", ["--session", "a"]),
        (["list-panes"], False, "list_panes", []),
        (["list_panes"], True, "list_panes", []),
        (["list", "panes"], False, "list_panes", []),
        (["state"], True, "list_panes", []),
        (["-q", "config", "init", "--force"], False, "config_init", ["--force"]),
        (["search", "history"], False, "search_history", ["history"]),
        (["query", "x"], True, "search_history", ["x"]),
        (["--version"], False, "version", []),
        (["workflow", "dry-run", "x"], False, "workflow_dry_run", ["x"]),
        (["workflow", "dry_run", "x"], True, "workflow_dry_run", ["x"]),
    ],
)
def test_an_operation_is_found_by_all_its_names(argv: list[str], is_robot: bool, name: str, rest: list[str]) -> None:
    op, words = find_operation(argv, is_robot)
    assert (op.name, words) == (name, rest)


def test_the_short_robot_names_are_for_robots() -> None:
    with pytest.raises(UnknownCommand):
        find_operation(["state"], is_robot=False)


@pytest.mark.parametrize(("word", "hint"), [("pnaes", "panes"), ("list-pane", "list-panes"), ("serach", "search")])
def test_a_misspelled_command_suggests_the_closest(word: str, hint: str) -> None:
    with pytest.raises(UnknownCommand) as caught:
        find_operation([word], is_robot=False)
    assert hint in caught.value.hint


def test_a_group_without_subcommand_lists_its_subcommands() -> None:
    with pytest.raises(
        UnknownCommand, match="needs a subcommand: init, show, get, set, unset, edit, reload, validate, path"
    ):
        find_operation(["config"], is_robot=False)


def test_calls_accept_long_and_short_names() -> None:
    assert load_by_any_name("state").name == load_by_any_name("list_panes").name == "list_panes"
    with pytest.raises(UnknownCommand, match="'nope'"):
        load_by_any_name("nope")
