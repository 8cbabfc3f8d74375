import shlex

import pytest

from termvisor.policy.shell.program_rule import RULES_BY_PROGRAM
from termvisor.policy.shell.programs.interpreter import SHELLS
from tests.unit.policy.policy_requests import find_classes

DELETES = {"destructive_delete", "system_delete"}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_runs_its_text_its_input_and_its_here_document(shell: str) -> None:
    for line in (f"{shell} -c 'rm -rf /'", f"echo 'rm -rf /' | {shell}", f"{shell} <<X\nrm -rf /\nX"):
        assert find_classes(line) == DELETES


@pytest.mark.parametrize("line", ["bash x.sh", "bash < x.sh", "sh -x run.sh -c a"])
def test_shell_with_a_file_has_an_unknown_effect(line: str) -> None:
    assert find_classes(line) == {"unknown_effect"}


@pytest.mark.parametrize("line", ["bash", "bash -l"])
def test_shell_at_a_terminal_has_no_script(line: str) -> None:
    assert find_classes(line) == set()


@pytest.mark.parametrize("name", ["/dev/fd/0", "/dev/stdin", "//dev/stdin", "/proc/self/fd/0", "-", "x.sh"])
def test_input_is_analyzed_by_whatever_name_a_shell_reads_it(name: str) -> None:
    assert find_classes(f"bash {name} <<< 'rm -rf /'") >= DELETES


@pytest.mark.parametrize("line", ["bash $F", "cat x | sh", "sh < <(ls)", "eval $X", "ls | bash -s"])
def test_unknown_script_is_dynamic(line: str) -> None:
    assert "dynamic" in find_classes(line)


LANGUAGES = [name for name, rule in RULES_BY_PROGRAM.items() if rule.analyze == "interpreter.language"]


@pytest.mark.parametrize("name", LANGUAGES)
def test_inline_code_is_classified(name: str) -> None:
    flag = next(names for names in RULES_BY_PROGRAM[name].effects).split()[0].rstrip("=")
    assert find_classes(f"{name} {flag} 1+1") == {"inline_code"}
    assert find_classes(f"{name} file") == {"unknown_effect"}


@pytest.mark.parametrize("code", ["print(1)", "print('a', 1 + 2)", 'print("x")', "import sys; print(sys.version)"])
def test_code_that_is_print_only_is_harmless(code: str) -> None:
    assert find_classes(f"python3 -c {shlex.quote(code)}") == set()


@pytest.mark.parametrize(
    "code",
    ["print(x)", "print(1); x()", "print(exec('x'))", "import os; print(1)", "print(f'{x()}')", "print('a' 'b', x)"],
)
def test_code_that_may_do_more_than_print_is_inline_code(code: str) -> None:
    assert find_classes(f"python3 -c {shlex.quote(code)}") == {"inline_code"}


@pytest.mark.parametrize(
    "line",
    ["python3 -E x.py", "perl -p x.pl", "ruby -p x.rb", "node -r ./x.js y.js", "bash -p x.sh"],
)
def test_flags_of_a_language_do_not_hide_the_file_that_it_runs(line: str) -> None:
    assert find_classes(line) == {"unknown_effect"}


def test_a_python_module_may_be_a_known_program() -> None:
    assert find_classes("python -m pip install x") == {"package_change"}
    assert find_classes("python -m pytest -c x") == {"unknown_effect"}


@pytest.mark.parametrize(
    "line", ["awk '{print $1 | \"sh\"}' f", "awk '{\"ls\" | getline}' f", "sed -e 1e f", "sed 's/a/b/ge' f"]
)
def test_awk_and_sed_may_run_programs(line: str) -> None:
    assert find_classes(line) == {"inline_code"}


@pytest.mark.parametrize(
    "line", ["awk '{print $1}' f", "sed s/e/x/g f", "sed -n '/e/p' f", "sed -i s,a,b, f", "sed '/x/d' f"]
)
def test_plain_awk_and_sed_run_nothing(line: str) -> None:
    assert find_classes(line) == set()


def test_aliases_traps_and_watch_are_scripts() -> None:
    for line in ("alias x='rm -rf /'", "trap 'rm -rf /' INT TERM", "watch 'rm -rf /'", "nix-shell --run 'rm -rf /'"):
        assert find_classes(line) >= DELETES
    assert find_classes("trap - INT") == set()


def test_command_in_quoted_arithmetic_is_dynamic() -> None:
    assert find_classes("test -v 'x[$(ls)]'") == {"dynamic"}
    assert find_classes("test -f x") == set()
