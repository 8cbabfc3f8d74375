"""The keys of a file that describes an agent, and its parser, which names line, key and reason of a problem.

Patterns are Python regular expressions in the dialect of screen rules: ``^`` and ``$`` match at every row.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.command_line import UUID_PATTERN
from termvisor.detection.packs.pack import RuleProblem
from termvisor.detection.packs.rule_file import find_line, parse_toml
from termvisor.detection.packs.rule_match import is_valid_range
from termvisor.model.agent.state import StateName
from termvisor.model.detection.rule import RuleFlag, ScreenCondition
from termvisor.model.did_you_mean import format_suggestion

ScreenPart = Literal["question", "options", "composer", "work", "turn", "last", "rest", "foot", "cursor"]
"""Regions of `screen_structure`, the last non-blank rows (`foot`), and the row of the cursor up to it (`cursor`)."""
Words = tuple[str, ...]
_PATTERN_KEYS = frozenset(
    {"pattern", "scripts", "title", "placeholders", "prompt", "allow", "deny", "reason", "question"}
)
_ERROR_PATH = re.compile(r" - at `\$(?P<path>[^`]*)`")
_ERROR_FIELD = re.compile(r"(?P<what>unknown|missing required) field `(?P<name>\w+)`")
_AGENT_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class ProcessDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the process is recognized: the name of its program, or the path of a script that node or Python runs."""

    programs: Words
    scripts: Words = ()
    excluded: Words = ()
    """First arguments that start no conversation, such as `mcp`."""
    required: Words = ()
    """First arguments of which one is needed, for a program that other tools are called, too."""


class SessionDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``resume`` is the command, with `{}` for the session id; ``options`` name the id in a command line."""

    resume: Words
    options: Words = ()
    pattern: str = UUID_PATTERN


class ComposerDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``placeholders`` are texts of an empty composer; ``prompt`` is for an agent that draws no input area."""

    placeholders: Words = ()
    prompt: str = ""
    status: str = ""
    """Pattern of the composer's last row if the agent shows its mode or model there."""
    ruled: bool = False
    """The composer may be indented or have no prompt sign: it is where the cursor is, between two horizontal rules."""


class DialogDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a dialog with options is answered. Without ``allow`` and ``deny``, common words for them are used."""

    allow: str = ""
    """Pattern of the option that allows just this once."""
    deny: str = ""
    choose: Literal["arrows", "numbers"] = "arrows"
    reason: str = ""
    """Pattern of the last rows if the agent asks for a reason after a refusal; Enter leaves it empty."""


class PromptDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question that is answered with a letter, in the row of the cursor (`Run it? (Y)es/(N)o [Yes]: `) or above."""

    question: str
    part: Literal["cursor", "foot"] = "cursor"
    allow: Annotated[str, msgspec.Meta(pattern="^[a-z0-9]$")] = "y"
    deny: Annotated[str, msgspec.Meta(pattern="^[a-z0-9]$")] = "n"
    enter: bool = True
    """The letter is shown and takes effect with Enter; otherwise it takes effect at once."""


class KeysDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Keys as tmux names them, such as `Escape` and `C-c`."""

    interrupt: Words = ()
    exit: Words = ()


class ScreenDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule for the agent's own screens, tried before the rules for all agents."""

    name: Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]
    part: ScreenPart
    pattern: str
    state: StateName
    flag: RuleFlag | None = None
    also: tuple[ScreenCondition, ...] = ()
    unless: tuple[ScreenCondition, ...] = ()
    versions: str = ""


class ExampleDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A screen and the state that it shows. ``cursor`` is its column and row; without it, the cursor is at the end."""

    state: StateName
    screen: str
    cursor: tuple[int, int] | None = None
    version: str = ""


class AgentDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent; its name is the name of the file."""

    about: str
    """The program and its vendor."""
    process: ProcessDescription
    packages: Words = ()
    """Names of the npm or Python packages that contain the program; their version is its version."""
    proven: Words = ()
    """Versions whose states were checked with the real program."""
    start: Words = ()
    """The command that starts a conversation."""
    title: str = ""
    """Pattern of the pane title."""
    session: SessionDescription | None = None
    composer: ComposerDescription = ComposerDescription()
    dialog: DialogDescription = DialogDescription()
    keys: KeysDescription = KeysDescription()
    prompt: tuple[PromptDescription, ...] = ()
    screen: tuple[ScreenDescription, ...] = ()
    example: tuple[ExampleDescription, ...] = ()


def parse_description(text: str, path: str) -> AgentDescription | RuleProblem:
    """Return the description in the text of a file, or the first problem with it."""
    values = parse_toml(text, path)
    if isinstance(values, RuleProblem):
        return values
    try:
        description = msgspec.convert(values, AgentDescription)
    except msgspec.ValidationError as error:
        return _describe_error(str(error), text, path)
    for key, why in _find_problems(description):
        return RuleProblem(file=path, line=find_line(key, text), key=key, why=why)
    return description


def is_agent_name(name: str) -> bool:
    return _AGENT_NAME.fullmatch(name) is not None


def list_patterns(description: object) -> Iterator[tuple[str, str]]:
    """Yield the key and the text of every pattern in a description."""
    for key in getattr(description, "__struct_fields__", ()):
        value = getattr(description, key)
        for one in value if isinstance(value, tuple) else (value,):
            is_pattern = (
                key in _PATTERN_KEYS and isinstance(one, str) and not isinstance(description, PromptDescription)
            )
            if is_pattern or (key == "question" and isinstance(one, str)):
                yield key, one
            else:
                yield from list_patterns(one)


def _find_problems(description: AgentDescription) -> Iterator[tuple[str, str]]:
    """Yield the problems that type checking cannot find, as pairs (key, why)."""
    for key, pattern in list_patterns(description):
        try:
            re.compile(pattern)
        except re.error as error:
            yield key, f"{pattern!r} is not a regular expression: {error}"
    process, session = description.process, description.session
    rules = description.screen
    checks = [
        ("about", bool(description.about.strip()), "is empty: name the program and its vendor"),
        ("programs", bool(process.programs) and all(process.programs), "needs at least one name"),
        ("programs", not any("/" in name for name in process.programs), "must be names without a folder"),
        ("scripts", all(process.scripts), "has an empty text, which matches everything"),
        ("title", not (description.title and re.search(description.title, "")), "matches an empty title"),
        ("resume", session is None or any("{}" in word for word in session.resume), "needs {} for the session id"),
        ("pattern", session is None or not re.fullmatch(session.pattern, ""), "matches an empty session id"),
        ("name", len({rule.name for rule in rules}) == len(rules), "is used by two screen rules"),
        ("versions", all(is_valid_range(rule.versions) for rule in rules), "must be bounds such as >=0.150,<1"),
        (
            "enter",
            all(one.part == "cursor" or not one.enter for one in description.prompt),
            "must be false for part foot, where the typed letter is not read",
        ),
        ("exit", "Enter" not in (*description.keys.exit, *description.keys.interrupt), "must not press Enter"),
    ]
    yield from ((key, why) for key, is_valid, why in checks if not is_valid)


def _describe_error(error: str, text: str, path: str) -> RuleProblem:
    """Translate an msgspec message into the terms of the file, with the nearest key for an unknown one."""
    found = _ERROR_PATH.search(error)
    keys = re.findall(r"[a-z_]+", found["path"]) if found else []
    message = _ERROR_PATH.sub("", error)
    field = _ERROR_FIELD.search(message)
    if field is None:
        key = keys[-1] if keys else ""
        return RuleProblem(file=path, line=find_line(key, text), key=key, why=message[:1].lower() + message[1:])
    name = field["name"]
    if field["what"] != "unknown":
        table = keys[-1] if keys else ""
        return RuleProblem(file=path, line=find_line(table, text) if table else None, key=name, why="is missing")
    why = f"is unknown; {format_suggestion(name, _get_struct(keys).__struct_fields__)}"
    return RuleProblem(file=path, line=find_line(name, text), key=name, why=why)


def _get_struct(keys: list[str]) -> type[Struct]:
    """Return the type of the table at this path."""
    struct: type[Struct] = AgentDescription
    for key in keys:
        found = get_type_hints(struct).get(key)
        options = [found, *get_args(found)] if get_origin(found) is not Literal else []
        struct = next((one for one in options if isinstance(one, type) and issubclass(one, Struct)), struct)
    return struct
