"""Load the files that describe agents: the built-in ones, and the user's in `<config>/agents`.

A file with a problem is left out and logged; all others are used. A user's file replaces a built-in description of the
same name, but not an adapter.
"""

import os
from collections.abc import Iterator
from functools import cache, cached_property

from msgspec import Struct

from termvisor.agents.adapters.agent_description import (
    is_agent_name,
    list_patterns,
    parse_description,
)
from termvisor.agents.adapters.described.adapter import DescribedAdapter, build_described_adapter
from termvisor.detection.packs.pack import RuleProblem
from termvisor.detection.packs.rule_file import find_line, read_text
from termvisor.log import get_logger
from termvisor.model.agent.agent_view import DescriptionCheck
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

# In the order in which they are tried: `generic` after the real adapters, which user rules must not shadow, and before
# described agents, so that a user's rules for one of them still apply.
BUILTIN_AGENTS: tuple[str, ...] = ("claude_code", "codex", "gemini", "opencode", "copilot", "cursor", "generic")
DESCRIBED_FOLDER = os.path.join(os.path.dirname(__file__), "described")
_RESERVED_NAMES = frozenset({*BUILTIN_AGENTS, "any_agent"})
_SUFFIX = ".toml"
_MAX_WIDE_REPEATS = 4
log = get_logger("agents")


class DescribedAgents(Struct, frozen=True):
    """The adapters by name, and the problems with the files of others."""

    adapters: dict[str, DescribedAdapter]
    problems: tuple[RuleProblem, ...] = ()


def get_user_folder(config_dir: str) -> str:
    return f"{config_dir}/agents"


@cache
def load_builtin_descriptions() -> DescribedAgents:
    return _load_folder(DESCRIBED_FOLDER)


class DescriptionStore:
    """The described agents of this process. ``generation`` changes whenever files were read again."""

    def __init__(self) -> None:
        self._user_folder, self.generation = "", 0

    def use_folder(self, user_folder: str) -> None:
        """Read the files again, with those of a user's folder."""
        self._user_folder = user_folder
        self.generation += 1
        self.__dict__.pop("agents", None)

    @cached_property
    def agents(self) -> DescribedAgents:
        return load_descriptions(self._user_folder)


def list_changed_descriptions(before: DescribedAgents, after: DescribedAgents) -> tuple[str, ...]:
    """Return the agents whose description is new, different or gone."""
    old, new = ({name: one.description for name, one in agents.adapters.items()} for agents in (before, after))
    return tuple(sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)))


# One per process, like the redaction rules: snapshots of panes and the list of agents need the same adapters.
DESCRIPTIONS = DescriptionStore()


def load_descriptions(user_folder: str) -> DescribedAgents:
    """Return the built-in described agents, and those of a user's folder if it is not empty."""
    builtin = load_builtin_descriptions()
    if not user_folder:
        return builtin
    own = _load_folder(user_folder, is_checked=True)
    for problem in own.problems:
        log.error("an agent's description is not used: %s", problem)
    return DescribedAgents(builtin.adapters | own.adapters, own.problems)


def read_description(path: str, *, is_checked: bool = True) -> DescribedAdapter | RuleProblem:
    """Return the adapter that a file describes. ``is_checked``: also test its patterns and examples."""
    name = os.path.basename(path).removesuffix(_SUFFIX)
    if not is_agent_name(name):
        return RuleProblem(file=path, why="must be named after the agent: a-z, 0-9 and _, such as my_agent.toml")
    if name in _RESERVED_NAMES:
        return RuleProblem(file=path, why=f"{name} is a built-in adapter; rename the file")
    text = read_text(path)
    if isinstance(text, RuleProblem):
        return text
    description = parse_description(text, path)
    if isinstance(description, RuleProblem):
        return description
    adapter = build_described_adapter(name, description)
    problems = find_problems(adapter) if is_checked else iter(())
    for key, why, number in problems:
        return RuleProblem(file=path, line=find_line(key, text, number), key=key, why=why)
    return adapter


def check_description(path: str) -> DescriptionCheck:
    """Check a file and its examples. Runs in a worker process."""
    adapter = read_description(path)
    name = os.path.basename(path).removesuffix(_SUFFIX)
    if isinstance(adapter, RuleProblem):
        return DescriptionCheck(name=name, problem=str(adapter))
    return DescriptionCheck(name=name, examples=tuple(one.state for one in adapter.description.example))


def find_problems(adapter: DescribedAdapter) -> Iterator[tuple[str, str, int]]:
    """Yield patterns that some text would make slow, and examples with another state: key, reason and number."""
    # Imported late, because it loads the regex engines, and built-in files are checked by tests.
    from termvisor.detection.packs.rule_checks import find_backtracking_risk

    for key, pattern in list_patterns(adapter.description):
        if why := find_backtracking_risk(pattern, _MAX_WIDE_REPEATS):
            yield key, f"{pattern!r} cannot be used: {why}", 0
    for number, (expected, reading) in enumerate(classify_examples(adapter)):
        if reading != expected:
            yield "example", f"number {number + 1} shows {expected}, but is classified as {reading}", number


def classify_examples(adapter: DescribedAdapter) -> list[tuple[str, str]]:
    """Return the expected and the found state of every example."""
    return [
        (one.state, adapter.classify_screen(build_example_screen(one.screen, one.cursor), one.version).state)
        for one in adapter.description.example
    ]


def build_example_screen(text: str, cursor: tuple[int, int] | None) -> Screen:
    rows = text.split("\n")
    x, y = cursor or (len(rows[-1]), len(rows) - 1)
    return Screen(
        pane=PaneId(0),
        rows=tuple(row.rstrip() for row in rows),
        width=max(80, *map(len, rows)),
        height=len(rows),
        cursor_x=x,
        cursor_y=y,
    )


def _load_folder(folder: str, *, is_checked: bool = False) -> DescribedAgents:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX) and name[0] not in "._")
    except FileNotFoundError:
        names = []
    except OSError as error:
        return DescribedAgents({}, (RuleProblem(file=folder, why=f"cannot be read: {error.strerror}"),))
    found = [read_description(f"{folder}/{name}", is_checked=is_checked) for name in names]
    adapters = {one.name: one for one in found if isinstance(one, DescribedAdapter)}
    return DescribedAgents(adapters, tuple(one for one in found if isinstance(one, RuleProblem)))
