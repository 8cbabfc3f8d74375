"""Every module has its test where one looks for it, or a reason why it is tested elsewhere."""

import ast
from pathlib import PurePosixPath

from tests.architecture.source import ROOT, Function, Module, modules, sample

SHORT = 20
"""Modules up to this many lines need no test of their own."""

_WITH_A_SHELL = "tests/unit/act/test_gate.py", "only a real shell behind the gate shows that it is right"
ELSEWHERE: dict[str, tuple[str, str]] = {
    "termvisor.act.send": _WITH_A_SHELL,
    "termvisor.act.perform": _WITH_A_SHELL,
    "termvisor.act.attempt": _WITH_A_SHELL,
    "termvisor.act.delivery": _WITH_A_SHELL,
    "termvisor.daemon.acting": _WITH_A_SHELL,
    "termvisor.model.account_settings": ("tests/unit/model/test_account.py", "what may be declared is told there"),
    "termvisor.model.places": ("tests/unit/test_settings.py", "settings say where they are"),
    "termvisor.daemon.runs": ("tests/live/test_workflows.py", "it joins the engine with a whole daemon"),
    "termvisor.workflow.builtin.limit_resume": (
        "tests/unit/workflow/builtin/test_handle_usage_limits.py",
        "it is the second half of that workflow",
    ),
}
"""Module → the test that covers it, and why it is not the mirrored one."""


def has_behaviour(module: Module) -> bool:
    """Declarations (fields, contracts, tables) have nothing to test; what `testing` holds is run by other tests."""
    return module.package != "testing" and any(map(_does_something, module.functions()))


def _does_something(function: Function) -> bool:
    return any(not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)) for line in function.body)


CODE = "def run():\n    return 1\n" + "x = 1\n" * 20


def mirrors(module: Module) -> list[str]:
    """Where the test of a module may stand; a package's own code is tested under the package's name."""
    path = PurePosixPath(module.path).relative_to("src/termvisor")
    folder = PurePosixPath("tests/unit") / path.parent
    names = [path.parent.name or "termvisor", "init"] if path.name == "__init__.py" else [path.stem.strip("_")]
    return [str(folder / f"test_{name}.py") for name in names]


def untested(found: list[Module], tests: set[str], elsewhere: dict[str, tuple[str, str]]) -> list[str]:
    return [
        f"{module.path}: no {mirrors(module)[0]}"
        for module in found
        if module.lines > SHORT
        and has_behaviour(module)
        and not tests.intersection(mirrors(module))
        and elsewhere.get(module.name, ("",))[0] not in tests
    ]


def stale(found: list[Module], tests: set[str], elsewhere: dict[str, tuple[str, str]]) -> list[str]:
    """Entries for modules that are gone or have their own test by now."""
    known = {module.name: module for module in found}
    return [name for name in elsewhere if name not in known or tests.intersection(mirrors(known[name]))]


def test_every_module_has_its_test() -> None:
    assert untested(modules(), _tests(), ELSEWHERE) == []


def test_the_table_of_exceptions_is_up_to_date() -> None:
    assert stale(modules(), _tests(), ELSEWHERE) == []


def test_a_module_without_a_test_is_found() -> None:
    module = sample(CODE)
    assert untested([module], {"tests/unit/stream/test_other.py"}, {}) == [
        "src/termvisor/stream/sample.py: no tests/unit/stream/test_sample.py"
    ]
    assert untested([module], {"tests/unit/stream/test_sample.py"}, {}) == []


def test_a_module_that_only_declares_needs_no_test() -> None:
    text = (
        '"""Values."""\nclass Source(Protocol):\n    def read(self):\n        """Reads."""\n' + "    x: int = 1\n" * 20
    )
    assert untested([sample(text)], set(), {}) == []


def test_an_exception_counts_only_while_its_test_exists() -> None:
    module, table = sample(CODE), {"termvisor.stream.sample": ("tests/live/test_stream.py", "needs tmux")}
    assert untested([module], {"tests/live/test_stream.py"}, table) == []
    assert len(untested([module], set(), table)) == 1


def test_a_stale_exception_is_found() -> None:
    module, table = sample(CODE), {"termvisor.stream.sample": ("", ""), "termvisor.gone": ("", "")}
    assert stale([module], set(), table) == ["termvisor.gone"]
    assert stale([module], {"tests/unit/stream/test_sample.py"}, table) == ["termvisor.stream.sample", "termvisor.gone"]


def _tests() -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").glob("**/test_*.py")}
