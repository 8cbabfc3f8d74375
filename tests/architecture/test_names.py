"""Names say what a thing is; a name that fits everything means that the concept is not found yet."""

import re

from tests.architecture.source import Module, modules, sample

BANNED = {"util", "utils", "helper", "helpers", "common", "misc", "core", "impl", "new", "v2"}
SPOKEN = {"termvisor.ops.rules.rules_new"}
"""Ops are called as people call them: `visor rules new`."""


def words(name: str) -> set[str]:
    """The words of a snake_case or CamelCase name, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+", name)}


def badly_named(found: list[Module]) -> list[str]:
    wrong = [
        module.path for module in found if words(module.name.split(".")[-1]) & BANNED and module.name not in SPOKEN
    ]
    return wrong + [
        f"{module.path}:{node.lineno} class {node.name}"
        for module in found
        for node in module.classes()
        if words(node.name) & BANNED
    ]


def speaks_of_any(found: list[Module]) -> list[str]:
    """Values have exact types."""
    return [module.path for module in found if "typing.Any" in module.imports()]


def without_docstring(found: list[Module]) -> list[str]:
    return [module.path for module in found if not module.text.lstrip().startswith(('"""', 'r"""'))]


def test_no_module_or_class_has_a_banned_name() -> None:
    assert badly_named(modules()) == []


def test_every_module_says_what_it_is() -> None:
    assert without_docstring(modules()) == []


def test_values_have_exact_types() -> None:
    assert speaks_of_any([module for module in modules() if module.package == "model"]) == []


def test_a_banned_module_name_is_found() -> None:
    assert badly_named([sample("", "termvisor.stream.text_utils")]) == ["src/termvisor/stream/text_utils.py"]


def test_a_banned_class_name_is_found_and_a_longer_word_is_not() -> None:
    text = "class PaneUtils: pass\nclass NewerDatabase: pass\nclass Score: pass\n"
    assert badly_named([sample(text)]) == ["src/termvisor/stream/sample.py:1 class PaneUtils"]


def test_a_module_without_docstring_is_found() -> None:
    assert without_docstring([sample("x = 1\n")]) == ["src/termvisor/stream/sample.py"]


def test_any_in_a_value_is_found() -> None:
    text = "from typing import Any, Literal\nclass Pane:\n    data: Any\n"
    assert speaks_of_any([sample(text, "termvisor.model.sample")]) == ["src/termvisor/model/sample.py"]
