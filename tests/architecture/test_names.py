"""Names use the words of the field: classes are nouns of their own, functions start with a verb, folders stay small.

The word lists are closed on purpose: a banned word means that the concept is not found yet. Add a verb to `verbs.txt`
only if no verb of the list says it.
"""

import re
from collections import Counter, defaultdict
from pathlib import Path, PurePosixPath

from tests.architecture.source import Function, Module, modules, sample

VAGUE = {"util", "utils", "helper", "helpers", "common", "misc", "core", "impl", "new", "v2", "stuff", "tools"}
ROLES = {"handler", "service", "manager", "registry", "scheduler", "processor", "monitor", "client", "worker"}
"""Good class names with a noun before them (`MaintenanceScheduler`); a module takes its noun from its package."""
METAPHORS = {"plea", "deed", "errand", "desk", "easel", "studio", "scribe", "ear", "ears", "eyes", "gaze", "ordeal"}
METAPHORS |= {"minding", "knowing", "hearing", "circle", "wish", "belief", "tenant", "ledger", "means", "kit", "behind"}
METAPHORS |= {"ground", "lookout", "chronicle", "caretaker", "errands", "voice", "shelf", "crew", "told", "said"}
SPOKEN = {"termvisor.ops.rules.rules_new", "termvisor.ops.agents.agents_new", "termvisor.ops.workflows.workflow_new"}
"""Operations are called as users call them: `visor rules new`."""
SHARED_CLASS_NAMES: set[str] = set()
"""Public class names that may stand in more than one module; at most 20."""
MAX_MODULES_PER_FOLDER = 25
VERBS = set((Path(__file__).parent / "verbs.txt").read_text().split())
FIXED_NAMES = {"main", "connection_made", "connection_lost", "data_received", "eof_received", "fileno"}
FIXED_NAMES |= {"now", "monotonic", "keys", "still", "last_session", "dry_run"}
"""Prescribed by asyncio, by every clock, and by the workflow API that users write against."""
JOURNALED_TEXTS = ("handle_auth_required", "limit_resume", "safe_actions")
"""Built-in workflows with journaled texts: a replay compares them, so they change only with a version."""
BANNED_WORDS = re.compile(r"\b(whoever|somebody|anybody|anew|nobody)\b", re.IGNORECASE)


def split_words(name: str) -> list[str]:
    """Return the words of a snake_case or CamelCase name, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+", name)]


def find_bad_names(found: list[Module]) -> list[str]:
    wrong = [one.path for one in found if _is_vague(one.name.split(".")[-1]) and one.name not in SPOKEN]
    return wrong + [
        f"{module.path}:{node.lineno} class {node.name}"
        for module in found
        for node in module.classes()
        if module.name not in SPOKEN and (_is_vague(node.name) or node.name.lower() in ROLES)
    ]


def _is_vague(name: str) -> bool:
    return not (VAGUE | METAPHORS).isdisjoint(split_words(name))


def find_shared_class_names(found: list[Module]) -> dict[str, list[str]]:
    places = defaultdict(list)
    for module in found:
        for node in module.tree.body:
            if node in list(module.classes()) and not node.name.startswith("_"):
                places[node.name].append(module.path)
    return {name: paths for name, paths in places.items() if len(paths) > 1 and name not in SHARED_CLASS_NAMES}


def find_functions_without_verb(found: list[Module]) -> list[str]:
    return [
        f"{module.path}:{function.lineno} {function.name}"
        for module in found
        for function in module.functions()
        if not _is_exempt(function) and function.name.strip("_").split("_")[0] not in VERBS
    ]


def _is_exempt(function: Function) -> bool:
    decorators = {getattr(one, "attr", getattr(one, "id", "")) for one in function.decorator_list}
    is_property = bool(decorators & {"property", "cached_property", "setter", "contextmanager", "asynccontextmanager"})
    return is_property or function.name.strip("_") in FIXED_NAMES or function.name.startswith("__")


def find_full_folders(found: list[Module]) -> dict[str, int]:
    counts = Counter(str(PurePosixPath(one.path).parent) for one in found if not one.path.endswith("__init__.py"))
    return {folder: count for folder, count in counts.items() if count > MAX_MODULES_PER_FOLDER}


def find_banned_words(found: list[Module]) -> list[str]:
    """Code has callers, clients, users and processes; it has no `somebody`."""
    return [
        f"{module.path}:{number} {match[0]}"
        for module in found
        if not module.name.endswith(JOURNALED_TEXTS)
        for number, line in enumerate(module.text.splitlines(), 1)
        if (match := BANNED_WORDS.search(line))
    ]


def find_imprecise_types(found: list[Module]) -> list[str]:
    return [module.path for module in found if "typing.Any" in module.imports()]


def find_modules_without_docstring(found: list[Module]) -> list[str]:
    return [module.path for module in found if not module.text.lstrip().startswith(('"""', 'r"""'))]


def test_modules_and_classes_have_names_of_the_field() -> None:
    assert find_bad_names(modules()) == []


def test_public_class_names_are_unique() -> None:
    assert find_shared_class_names(modules()) == {}
    assert len(SHARED_CLASS_NAMES) <= 20


def test_functions_start_with_a_verb() -> None:
    assert find_functions_without_verb(modules()) == []


def test_folders_stay_small() -> None:
    assert find_full_folders(modules()) == {}


def test_docstrings_comments_and_messages_use_technical_words() -> None:
    assert find_banned_words(modules()) == []


def test_every_module_has_a_docstring() -> None:
    assert find_modules_without_docstring(modules()) == []


def test_values_have_exact_types() -> None:
    assert find_imprecise_types([module for module in modules() if module.package == "model"]) == []


def test_a_vague_module_name_is_found() -> None:
    assert find_bad_names([sample("", "termvisor.terminal.text_utils")]) == ["src/termvisor/terminal/text_utils.py"]


def test_a_role_needs_a_noun_before_it() -> None:
    text = "class Handler: pass\nclass PaneHandler: pass\nclass PaneUtils: pass\n"
    path = "src/termvisor/terminal/sample.py"
    assert find_bad_names([sample(text)]) == [f"{path}:1 class Handler", f"{path}:3 class PaneUtils"]


def test_a_class_name_in_two_modules_is_found() -> None:
    one, other = sample("class Span: pass\n"), sample("class Span: pass\nclass _Own: pass\n", "termvisor.store.other")
    assert list(find_shared_class_names([one, other])) == ["Span"]


def test_a_function_without_verb_is_found() -> None:
    text = "def told(): pass\ndef _shown(): pass\ndef read_line(): pass\n@property\ndef size(): pass\n"
    assert [line.split()[-1] for line in find_functions_without_verb([sample(text)])] == ["told", "_shown"]


def test_a_full_folder_is_found() -> None:
    found = [sample("", f"termvisor.terminal.part{number}") for number in range(26)]
    assert find_full_folders(found) == {"src/termvisor/terminal": 26}


def test_a_banned_word_is_found() -> None:
    assert find_banned_words([sample('"""Whoever reads this."""\n')]) == ["src/termvisor/terminal/sample.py:1 Whoever"]


def test_a_module_without_docstring_is_found() -> None:
    assert find_modules_without_docstring([sample("x = 1\n")]) == ["src/termvisor/terminal/sample.py"]


def test_any_in_a_value_is_found() -> None:
    text = "from typing import Any, Literal\nclass Pane:\n    data: Any\n"
    assert find_imprecise_types([sample(text, "termvisor.model.sample")]) == ["src/termvisor/model/sample.py"]
