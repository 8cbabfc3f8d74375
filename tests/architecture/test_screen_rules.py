"""Screen texts of agents are data in a rule pack; adapter code only cuts a screen into regions.

A regular expression in an adapter is therefore allowed only in the modules that find regions, keys, titles, paths and
fields of the agent's own records.
"""

import ast

from tests.architecture.source import Module, modules, sample, within

MAY_COMPILE_PATTERNS = {"screen_regions", "keyboard", "title", "signals", "hooks", "error_codes", "log_locations"}
MAY_COMPILE_PATTERNS |= {"process_match", "rollout", "events", "sse", "session_control"}
MAX_CODE_LINES = 12
"""Lines of code in `screen_rules`: it joins the regions to the rules of the pack and decides nothing itself."""


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


def find_screen_rules_with_logic(found: list[Module]) -> list[str]:
    joined = [module for module in adapter_modules(found) if module.name.endswith(".screen_rules")]
    return [one.path for one in joined if _count_code(one) > MAX_CODE_LINES or any(map(_is_function, one.nodes))]


def _is_re(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "re"


def _count_code(module: Module) -> int:
    first = module.tree.body[1].lineno if len(module.tree.body) > 1 else module.lines
    return module.lines - first + 1


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef)


def test_adapters_compile_patterns_only_where_screens_are_cut_and_records_are_read() -> None:
    assert find_unexpected_patterns(modules()) == []


def test_screen_rules_hold_no_logic() -> None:
    assert len([one for one in adapter_modules(modules()) if one.name.endswith(".screen_rules")]) > 5
    assert find_screen_rules_with_logic(modules()) == []


def test_a_pattern_in_another_module_is_found() -> None:
    text = "import re\n_A = re.compile('a')\n\ndef f(x):\n    return re.search('c', x)\n"
    path = "src/termvisor/agents/adapters/toy/screen_rules.py"
    assert find_unexpected_patterns([sample(text, "termvisor.agents.adapters.toy.screen_rules")]) == [
        f"{path}:2",
        f"{path}:5",
    ]
    assert find_unexpected_patterns([sample(text, "termvisor.agents.adapters.toy.title")]) == []


def test_screen_rules_with_logic_are_found() -> None:
    text = '"""Doc."""\n\ndef classify(screen):\n    return "busy" in screen\n'
    found = [sample(text, "termvisor.agents.adapters.toy.screen_rules")]
    assert find_screen_rules_with_logic(found) == ["src/termvisor/agents/adapters/toy/screen_rules.py"]
