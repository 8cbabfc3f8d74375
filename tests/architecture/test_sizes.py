"""Limits for the size of modules, functions and contracts."""

import ast
from statistics import median, quantiles

from tests.architecture.source import Function, Module, modules, sample

MODULE_LINES, FUNCTION_LINES, PARAMETERS, NESTING, CONTRACT_METHODS = 400, 40, 8, 3, 10
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)


def count_lines(function: Function) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


def count_parameters(function: Function) -> int:
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return sum(one.arg not in ("self", "cls") for one in given)


def measure_nesting(node: ast.AST) -> int:
    """Return how deep branches and loops are nested; `elif`, `with` and inner functions start no new level."""
    return max((_depth(child, node) for child in ast.iter_child_nodes(node)), default=0)


def _depth(child: ast.AST, parent: ast.AST) -> int:
    if isinstance(child, Function | ast.Lambda | ast.ClassDef):
        return 0
    is_elif = isinstance(child, ast.If) and isinstance(parent, ast.If) and parent.orelse == [child]
    return measure_nesting(child) + (isinstance(child, BLOCKS) and not is_elif)


def count_contract_methods(node: ast.ClassDef) -> int:
    is_contract = any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)
    return sum(isinstance(item, Function) for item in node.body) if is_contract else 0


def find_oversized(found: list[Module]) -> list[str]:
    wrong = [f"{module.path}: {module.lines} lines" for module in found if module.lines > MODULE_LINES]
    for module in found:
        for function in module.functions():
            where = f"{module.path}:{function.lineno} {function.name}"
            checks = (
                (count_lines(function), FUNCTION_LINES, "lines"),
                (count_parameters(function), PARAMETERS, "parameters"),
                (measure_nesting(function), NESTING, "levels of nesting"),
            )
            wrong += [f"{where}: {value} {what}" for value, limit, what in checks if value > limit]
        wrong += [
            f"{module.path}:{node.lineno} {node.name}: a contract of {count_contract_methods(node)} methods"
            for node in module.classes()
            if count_contract_methods(node) > CONTRACT_METHODS
        ]
    return wrong


def test_no_module_function_or_contract_is_find_oversized() -> None:
    assert find_oversized(modules()) == []


def test_the_median_module_and_function_are_small() -> None:
    found = [module for module in modules() if module.lines > 5]
    lengths = [count_lines(function) for module in found for function in module.functions()]
    figures = {
        "module median": (median(module.lines for module in found), 200),
        "function median": (median(lengths), 10),
        "function p90": (quantiles(lengths, n=10)[-1], 25),
    }
    print(*(f"{name}: {value:g} (at most {limit})" for name, (value, limit) in figures.items()), sep="\n")
    assert {name: value for name, (value, limit) in figures.items() if value > limit} == {}


def test_a_long_module_is_found() -> None:
    assert find_oversized([sample("x = 1\n" * 401)]) == ["src/termvisor/terminal/sample.py: 401 lines"]


def test_a_long_function_is_found() -> None:
    assert find_oversized([sample("def run():\n" + "    x = 1\n" * 40)])[0].endswith("run: 41 lines")


def test_a_function_with_many_parameters_is_found_and_self_is_not_counted() -> None:
    text = "def few(self, a, b, c, d, *, e, f, g, h): pass\ndef many(a, b, c, d, e, *, f, g, h, i): pass\n"
    assert find_oversized([sample(text)]) == ["src/termvisor/terminal/sample.py:2 many: 9 parameters"]


def test_deep_nesting_is_found_and_elif_and_with_are_not_counted() -> None:
    flat = "def flat():\n  with f:\n    if a: pass\n    elif b: pass\n    elif c: pass\n    elif d: pass\n"
    deep = "def deep():\n  for a in b:\n    while c:\n      try:\n        if e: pass\n      finally: pass\n"
    assert find_oversized([sample(flat + deep)]) == ["src/termvisor/terminal/sample.py:7 deep: 4 levels of nesting"]


def test_a_wide_contract_is_found() -> None:
    text = "class Wide(Protocol):\n" + "".join(f"    def m{number}(self): ...\n" for number in range(11))
    assert find_oversized([sample(text)])[0].endswith("Wide: a contract of 11 methods")
