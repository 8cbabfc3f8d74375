"""Screen texts of agents are data in a rule pack; adapter code only cuts a screen into regions.

A regular expression in an adapter is therefore allowed only in the modules that find regions, keys, titles, paths and
fields of the agent's own records.
"""

import ast
from typing import get_args

from termvisor.model.agent.state import StateName
from tests.architecture.source import Module, modules, sample, within

MAY_COMPILE_PATTERNS = {"screen", "keyboard", "adapter", "hooks", "terminal_signals", "transcript", "error_codes"}
MAY_COMPILE_PATTERNS |= {"http", "session_control"}
STATES = frozenset(get_args(StateName))


def adapter_modules(found: list[Module]) -> list[Module]:
    """Return the modules of the packages of single agents."""
    return [one for one in found if within(one.name, "termvisor.agents.adapters") and one.name.count(".") > 3]


def find_unexpected_patterns(found: list[Module]) -> list[str]:
    return [
        f"{module.path}:{node.lineno}"
        for module in adapter_modules(found)
        if module.name.rpartition(".")[2] not in MAY_COMPILE_PATTERNS
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_re(node.func.value)
    ]


def find_deciding_screens(found: list[Module]) -> list[str]:
    """Return where a module `screen` names a state or builds a reading: it finds regions, the rules of the pack decide.

    Its classifier is the shared one, joined to its regions in one statement.
    """
    screens = [module for module in adapter_modules(found) if module.name.endswith(".screen")]
    deciding = [f"{module.path}:{node.lineno}" for module in screens for node in module.nodes if _is_decision(node)]
    return deciding + [module.path for module in screens if not any(map(_is_classifier, module.tree.body))]


def _is_decision(node: ast.AST) -> bool:
    is_state = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in STATES
    return is_state or (isinstance(node, ast.Name) and node.id == "ScreenReading")


def _is_classifier(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node).startswith("SCREEN_CLASSIFIER = ScreenClassifier(")


def _is_re(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "re"


def test_adapters_compile_patterns_only_where_screens_are_cut_and_records_are_read() -> None:
    assert find_unexpected_patterns(modules()) == []


def test_screens_decide_nothing() -> None:
    assert len([one for one in adapter_modules(modules()) if one.name.endswith(".screen")]) > 5
    assert find_deciding_screens(modules()) == []


def test_a_pattern_in_another_module_is_found() -> None:
    text = "import re\n_A = re.compile('a')\n\ndef f(x):\n    return re.search('c', x)\n"
    path = "src/termvisor/agents/adapters/toy/usage.py"
    assert find_unexpected_patterns([sample(text, "termvisor.agents.adapters.toy.usage")]) == [
        f"{path}:2",
        f"{path}:5",
    ]
    assert find_unexpected_patterns([sample(text, "termvisor.agents.adapters.toy.terminal_signals")]) == []


def test_a_screen_that_decides_is_found() -> None:
    path = "src/termvisor/agents/adapters/toy/screen.py"
    joined = "\nSCREEN_CLASSIFIER = ScreenClassifier('toy', split_regions)\n"
    state = '"""Doc."""\n\ndef classify(screen):\n    return "running" if "busy" in screen else ""\n'
    reading = '"""Doc."""\n\ndef classify(screen):\n    return ScreenReading(rule=screen[0])\n'
    own = '"""Doc."""\n\nSCREEN_CLASSIFIER = ToyClassifier()\n'
    found = [
        find_deciding_screens([sample(text, "termvisor.agents.adapters.toy.screen")])
        for text in (state + joined, reading + joined, own, f'"""Doc."""\n{joined}')
    ]
    assert found == [[f"{path}:4"], [f"{path}:4"], [path], []]
