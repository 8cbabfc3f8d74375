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


def find_screens_with_states(found: list[Module]) -> list[str]:
    """Return the places where a module `screen` names a state: it finds regions, and the rules of the pack decide."""
    return [
        f"{module.path}:{node.lineno}"
        for module in adapter_modules(found)
        if module.name.endswith(".screen")
        for node in module.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in STATES
    ]


def _is_re(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "re"


def test_adapters_compile_patterns_only_where_screens_are_cut_and_records_are_read() -> None:
    assert find_unexpected_patterns(modules()) == []


def test_screens_name_no_state() -> None:
    assert len([one for one in adapter_modules(modules()) if one.name.endswith(".screen")]) > 5
    assert find_screens_with_states(modules()) == []


def test_a_pattern_in_another_module_is_found() -> None:
    text = "import re\n_A = re.compile('a')\n\ndef f(x):\n    return re.search('c', x)\n"
    path = "src/termvisor/agents/adapters/toy/usage.py"
    assert find_unexpected_patterns([sample(text, "termvisor.agents.adapters.toy.usage")]) == [
        f"{path}:2",
        f"{path}:5",
    ]
    assert find_unexpected_patterns([sample(text, "termvisor.agents.adapters.toy.terminal_signals")]) == []


def test_a_screen_that_names_a_state_is_found() -> None:
    text = '"""Doc."""\n\ndef classify(screen):\n    return "running" if "busy" in screen else ""\n'
    found = [sample(text, "termvisor.agents.adapters.toy.screen")]
    assert find_screens_with_states(found) == ["src/termvisor/agents/adapters/toy/screen.py:4"]
