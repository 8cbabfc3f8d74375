import sys

import pytest

from termvisor.policy.shell.program_rule import RULES_BY_PROGRAM
from tests.unit.policy.policy_requests import analyze_text, find_classes

DELETES = {"destructive_delete", "system_delete"}
WRAPPERS = {name: rule for name, rule in RULES_BY_PROGRAM.items() if rule.runs == "program"}
WITH_OPERAND = [name for name, rule in WRAPPERS.items() if 1 in rule.skips]
PLAIN = [name for name, rule in WRAPPERS.items() if 0 in rule.skips]
GRAMMAR = {"if", "elif", "while", "until", "then", "do", "else", "!", "{"}


@pytest.mark.parametrize("name", sorted(set(PLAIN) - GRAMMAR))
def test_a_wrapper_does_not_hide_what_it_runs(name: str) -> None:
    assert find_classes(f"{name} rm -rf /") >= DELETES


@pytest.mark.parametrize("name", sorted(WITH_OPERAND))
def test_wrapper_with_an_operand_does_not_hide_what_it_runs(name: str) -> None:
    assert find_classes(f"{name} x rm -rf /") >= DELETES


@pytest.mark.parametrize("line", ["direnv exec . rm -rf /", "aws-vault exec me -- rm -rf /", "op run -- rm -rf /"])
def test_a_subcommand_that_runs_another_program_is_analyzed(line: str) -> None:
    assert find_classes(line) >= DELETES


def test_command_v_runs_nothing() -> None:
    assert (find_classes("command -v rm"), find_classes("uv pip list"), find_classes("xargs")) == (set(), set(), set())


def test_variables_before_the_program_are_seen() -> None:
    assert find_classes("env -i LD_PRELOAD=x ls") == {"environment"}


def test_arguments_of_xargs_are_unknown() -> None:
    assert analyze_text("cat list | xargs -n 1 chmod 600").lines[-1] == "chmod 600 …"


def test_sudo_may_write_a_file_or_start_a_shell() -> None:
    assert analyze_text("sudo -e /etc/hosts").writes == ("/etc/hosts",)
    assert find_classes("echo ls | sudo -s") == {"privilege"}
    assert find_classes("cat x | sudo -s") == {"privilege", "dynamic"}


START = f"{sys.executable} -P -m termvisor.accounts.launcher ~/.config/termvisor openai/work --"


def test_a_start_under_an_account_does_not_hide_what_it_runs() -> None:
    assert find_classes(f"{START} rm -rf /") >= DELETES
    assert analyze_text(f"{START} codex resume 1").programs == ("python", "termvisor.accounts.launcher", "codex")


def test_account_folder_is_ignored_and_program_paths_are_not() -> None:
    assert find_classes(f"{START} codex resume 1") == set()
    assert find_classes(f"{START} tool ~/.config/termvisor/config.toml") == {"protected_path", "unknown_effect"}
