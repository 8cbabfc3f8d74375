import pytest

from termvisor.policy.shell.programs.interpreter import CODE_FLAGS_BY_LANGUAGE, SHELLS
from tests.unit.policy.policy_requests import find_classes

DELETES = {"destructive_delete", "system_delete"}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_runs_its_text_its_input_and_its_here_document(shell: str) -> None:
    for line in (f"{shell} -c 'rm -rf /'", f"echo 'rm -rf /' | {shell}", f"{shell} <<X\nrm -rf /\nX"):
        assert find_classes(line) == DELETES


@pytest.mark.parametrize("line", ["bash x.sh", "bash < x.sh", "bash", "bash -l", "sh -x run.sh -c a"])
def test_shell_with_a_file_or_terminal_has_no_script(line: str) -> None:
    assert find_classes(line) == set()


@pytest.mark.parametrize("line", ["bash $F", "cat x | sh", "sh < <(ls)", "eval $X", "ls | bash -s"])
def test_unknown_script_is_dynamic(line: str) -> None:
    assert "dynamic" in find_classes(line)


@pytest.mark.parametrize("name", sorted(name for name, flags in CODE_FLAGS_BY_LANGUAGE.items() if flags))
def test_inline_code_is_classified(name: str) -> None:
    flag = CODE_FLAGS_BY_LANGUAGE[name].split()[0]
    assert find_classes(f"{name} {flag} 1+1") == {"inline_code"}
    assert find_classes(f"{name} file {'' if '--cmd' in CODE_FLAGS_BY_LANGUAGE[name] else flag}") == set()


def test_a_python_module_may_be_a_known_program() -> None:
    assert find_classes("python -m pip install x") == {"package_change"}
    assert find_classes("python -m pytest -c x") == set()


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
        assert find_classes(line) == DELETES
    assert find_classes("trap - INT") == set()


def test_command_in_quoted_arithmetic_is_dynamic() -> None:
    assert find_classes("test -v 'x[$(ls)]'") == {"dynamic"}
    assert find_classes("test -f x") == set()
