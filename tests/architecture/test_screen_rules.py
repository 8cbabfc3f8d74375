"""What a screen says is data in a pack. Code only cuts the screen into parts, and every pattern for that is named."""

import ast
from collections.abc import Iterator

from tests.architecture.source import Module, modules, sample, within

SHORTEST = 12
"""Lines of code in a `look`: it joins the layout to the rules, and knows nothing itself."""
STRUCTURE = {
    "claude_code.layout": "RULE EDGE POINTER _LEAVING _COMPOSING _ENDED",
    "codex.layout": "_CHOICE _FOOTER _WORK _ASIDE _KEYS",
    "gemini.layout": "_RULE _COMPOSER _PROMPT _SIGN _STATUS",
    "opencode.layout": "_EDGE _BAR _END",
    "copilot.layout": "_RULE _PROMPT _SIGN _BAR",
    "claude_code.channel": "_OPTION",
    "opencode.channel": "_REQUEST _EMPTY",
}
"""Where a part of a screen begins and ends: rules, frames, signs at the margin, the rows of choices and of keys."""
ELSEWHERE = {
    "claude_code.title": "_TITLE",
    "codex.title": "_WORKING _ASKING",
    "gemini.signals": "_TITLE",
    "claude_code.hook": "_TASK",
    "claude_code.error_names": "_LIMIT",
    "claude_code.places": "_OTHER",
    "claude_code.recognise": "_INSTALLED",
    "codex.rollout": "_NAME",
    "copilot.events": "_BACKGROUND",
    "opencode.recognise": "_PORT",
    "opencode.served.sse": "_ENDS",
}
"""No texts of a screen: titles, paths, command lines, and words in the agents' own records."""


def packages(found: list[Module]) -> list[Module]:
    """The modules of the packages of single agents."""
    return [one for one in found if within(one.name, "termvisor.agents") and one.name.count(".") > 2]


def patterns(module: Module) -> Iterator[str]:
    """Names of those that it compiles; a place in the source for one without a name."""
    named = {id(value): name for node in module.tree.body for name, value in _assigned(node)}
    for node in module.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_re(node.func.value):
            yield named.get(id(node), f"line {node.lineno}")


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            names = [one.id for one in target.elts if isinstance(one, ast.Name)]
            yield from zip(names, node.value.elts, strict=True)


def _is_re(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "re"


def compiled(found: list[Module]) -> dict[str, set[str]]:
    every = {module.name.removeprefix("termvisor.agents."): set(patterns(module)) for module in packages(found)}
    return {name: names for name, names in every.items() if names}


def thoughtful(found: list[Module]) -> list[str]:
    """Those that should only join a layout to the rules, and do more."""
    looks = [module for module in packages(found) if module.name.endswith(".look")]
    return [one.path for one in looks if _code(one) > SHORTEST or any(map(_is_function, one.nodes))]


def _code(module: Module) -> int:
    first = module.tree.body[1].lineno if len(module.tree.body) > 1 else module.lines
    return module.lines - first + 1


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef)


def test_every_pattern_in_an_agents_package_is_known_by_name() -> None:
    known = {name: set(names.split()) for name, names in (STRUCTURE | ELSEWHERE).items()}
    assert compiled(modules()) == known


def test_a_look_joins_and_knows_nothing() -> None:
    assert len([one for one in packages(modules()) if one.name.endswith(".look")]) > 5
    assert thoughtful(modules()) == []


def test_a_pattern_that_nobody_named_is_found() -> None:
    text = "import re\n_A, _B = re.compile('a'), re.compile('b')\n\ndef f(x):\n    return re.search('c', x)\n"
    assert compiled([sample(text, "termvisor.agents.toy.look")]) == {"toy.look": {"_A", "_B", "line 5"}}


def test_a_look_that_thinks_is_found() -> None:
    text = '"""Doc."""\n\ndef look(screen):\n    return "busy" in screen\n'
    assert thoughtful([sample(text, "termvisor.agents.toy.look")]) == ["src/termvisor/agents/toy/look.py"]
