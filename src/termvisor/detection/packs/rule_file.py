"""Rule files: parse one into a ``Rule``, or a ``RuleProblem`` with line and reason, and render a new one."""

import os
import re
import tomllib
from typing import Any, NamedTuple, get_args

import msgspec

from termvisor.detection.packs.pack import RuleProblem
from termvisor.detection.packs.rule_match import is_valid_range
from termvisor.model.agent.state import StateName
from termvisor.model.detection.rule import (
    MatchingExample,
    NonMatchingExample,
    Rule,
    RuleFlag,
    RuleScope,
    ScreenCondition,
    Severity,
)
from termvisor.model.did_you_mean import format_suggestion
from termvisor.model.event import is_event_type
from termvisor.system.files import open_regular_file

MAX_FILE_BYTES = 64 << 10
"""Larger files are not read."""
_RULE_ID = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+")
_FIELD_BY_TABLE = {"hit": "hits", "miss": "misses"}
_TABLE_BY_FIELD = {"hits": "hit", "misses": "miss"}
_LINE_AND_COLUMN = re.compile(r"\(at line (\d+), column (\d+)\)")
_CHOICES_BY_KEY = {
    "scope": get_args(RuleScope),
    "severity": get_args(Severity),
    "flag": get_args(RuleFlag),
    "state": get_args(StateName),
}
_TABLE_TYPES = {"hit": MatchingExample, "miss": NonMatchingExample, "also": ScreenCondition, "unless": ScreenCondition}
_TYPE_NAMES = {
    "str": "a text in quotes",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_ERROR_PATH = re.compile(r" - at `\$\.?(?P<top>\w*)(?:\[(?P<number>\d+)\])?\.?(?P<inner>[^`]*)`")
_ERROR_FIELD = re.compile(r"(?P<what>unknown|missing required) field `(?P<name>\w+)`")
_ERROR_TYPES = re.compile(r"Expected `(?P<expected>\w+)[^`]*`, got `(?P<actual>\w+)`")
_ERROR_ENUM = re.compile(r"Invalid enum value (?P<actual>.+)")
PLACEHOLDER = "<fill in>"


def read_rule(path: str, pack: str) -> Rule | RuleProblem:
    text = read_text(path)
    if isinstance(text, RuleProblem):
        return text
    values = parse_toml(text, path)
    return values if isinstance(values, RuleProblem) else _build_rule(values, text, path, pack)


def read_text(path: str) -> str | RuleProblem:
    try:
        # utf-8-sig: some editors write a byte order mark.
        with open(path, encoding="utf-8-sig", opener=open_regular_file) as file:
            if os.fstat(file.fileno()).st_size > MAX_FILE_BYTES:
                return RuleProblem(file=path, why=f"is larger than {MAX_FILE_BYTES >> 10} KB")
            return file.read()
    except UnicodeDecodeError:
        return RuleProblem(file=path, why="is not UTF-8")
    except OSError as error:
        return RuleProblem(file=path, why=f"cannot be read: {error.strerror}")


def parse_toml(text: str, path: str) -> dict[str, Any] | RuleProblem:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # A RecursionError has neither text nor position.
        position = _LINE_AND_COLUMN.search(str(error))
        why = _LINE_AND_COLUMN.sub("", str(error)).strip() or "is nested too deeply"
        return RuleProblem(file=path, line=int(position[1]) if position else None, why=f"is not valid TOML: {why}")


def find_line(key: str, text: str, number: int = 0) -> int | None:
    """Return the line of a key, or of the table with that name and ``number``."""
    pattern = re.compile(rf"\s*(?:\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*(?:=|\]|\.)")
    lines = [line for line, row in enumerate(text.splitlines(), 1) if pattern.match(row)]
    return lines[min(number, len(lines) - 1)] if lines else None


def _build_rule(values: dict[str, Any], text: str, path: str, pack: str) -> Rule | RuleProblem:
    name = values.get("id")
    rule_id = name if isinstance(name, str) else ""
    for key in ("pack", "hits", "misses"):
        if key in values:
            why = f"is not a key of a rule file; write {_describe_correct_key(key)}"
            return RuleProblem(file=path, line=find_line(key, text), key=key, rule=rule_id, why=why)
    fields = {_FIELD_BY_TABLE.get(key, key): value for key, value in values.items()}
    try:
        rule = msgspec.convert({"hits": (), "misses": (), **fields, "pack": pack}, Rule)
    except msgspec.ValidationError as error:
        key, why, shown, number = describe_decode_error(str(error))
        return RuleProblem(file=path, line=find_line(shown, text, number), key=key, rule=rule_id, why=why)
    for key, why in _find_problems(rule):
        return RuleProblem(file=path, line=find_line(key, text), key=key, rule=rule.id, why=why)
    return rule


def _describe_correct_key(key: str) -> str:
    return f"[[{_TABLE_BY_FIELD[key]}]] tables" if key in _TABLE_BY_FIELD else "it in pack.toml, as name"


def _find_problems(rule: Rule) -> list[tuple[str, str]]:
    """Return the problems that type checking cannot find, as pairs (key, why)."""
    blank, *others = _find_unfilled_keys(rule) or [""]
    checks = [
        (
            "id",
            bool(_RULE_ID.fullmatch(rule.id)),
            "must be words of a-z, 0-9 and _, joined by dots, such as tool.limit.reached",
        ),
        ("hit", bool(rule.hits), "is missing: a rule needs at least one text that it must match"),
        ("miss", bool(rule.misses), "is missing: a rule needs at least one text that it must not match"),
        (blank, not blank, f"is not filled in yet{''.join(f', nor is {other}' for other in others)}"),
        ("hit", all(hit.text for hit in rule.hits), "has an empty text"),
        ("miss", all(miss.text for miss in rule.misses) or rule.scope == "screen", "has an empty text"),
        ("why", bool(rule.why.strip()), "is empty: describe for people what the match means"),
        ("event", not rule.event or is_event_type(rule.event), "must be at least two words, such as usage.reached"),
        ("event", bool(rule.event or rule.scope == "screen"), "is missing: only rules of scope screen may omit it"),
        ("part", bool(rule.part) or rule.scope != "screen", "is missing: the part of the screen to search"),
        ("part", not (rule.part or rule.also) or rule.scope == "screen", "is only for rules of scope screen"),
        ("versions", is_valid_range(rule.versions), "must be bounds joined by commas, such as >=0.150,<1"),
        ("versions", bool(rule.agent) or not rule.versions, "requires an agent, and the rule names none"),
        ("confidence", 0 < rule.confidence <= 1, "must be more than 0 and at most 1"),
        ("cooldown", 0 <= rule.cooldown <= 86_400, "must be between 0 and 86400 seconds"),
        ("anchors", all(rule.anchors), "has an empty text, which matches everything"),
        ("agent", re.fullmatch(r"[a-z][a-z0-9_]*|", rule.agent) is not None, "must be a name such as claude_code"),
    ]
    return [(key, why) for key, is_valid, why in checks if not is_valid]


def _find_unfilled_keys(rule: Rule) -> list[str]:
    """Return the keys that still have the placeholder of the template."""
    texts = {
        "pattern": rule.pattern,
        "why": rule.why,
        "hit": "".join(hit.text for hit in rule.hits),
        "miss": "".join(miss.text + miss.why for miss in rule.misses),
    }
    return [key for key, text in texts.items() if PLACEHOLDER in text]


class DecodeProblem(NamedTuple):
    """A decoding problem; ``shown`` is the key to find in the file, ``number`` counts tables of that name from 0."""

    key: str
    why: str
    shown: str = ""
    number: int = 0


def describe_decode_error(error: str) -> DecodeProblem:
    """Translate an msgspec message, which names Python types and fields, into the terms of the rule file."""
    path = _ERROR_PATH.search(error)
    message = _ERROR_PATH.sub("", error)
    key = _TABLE_BY_FIELD.get(path["top"], path["top"]) if path else ""
    number = int(path["number"] or 0) if path and key in _TABLE_TYPES else 0
    if field := _ERROR_FIELD.search(message):
        return _describe_field_error(key, field["name"], number, is_unknown=field["what"] == "unknown")
    inner_key = _describe_inner_key(path["inner"]) if path and key in _TABLE_TYPES else ""
    if types := _ERROR_TYPES.search(message):
        actual, expected = (_TYPE_NAMES.get(types[name], types[name]) for name in ("actual", "expected"))
        hint = f": write [[{key}]], with two brackets" if key in _TABLE_TYPES and types["actual"] == "object" else ""
        return DecodeProblem(key, f"{inner_key}is {actual}, and must be {expected}{hint}", key, number)
    if choice := _ERROR_ENUM.search(message):
        return DecodeProblem(key, f"{choice['actual']} is none of {', '.join(_CHOICES_BY_KEY.get(key, ()))}", key)
    return DecodeProblem(key, message, key, number)


def _describe_inner_key(path: str) -> str:
    name, bracket, _ = path.partition("[")
    return f"{'a value of ' if bracket else ''}`{name}` " if name else ""


def _describe_field_error(key: str, name: str, number: int, *, is_unknown: bool) -> DecodeProblem:
    """Describe an unknown or missing key; ``key`` is the table it belongs to, or empty."""
    prefix = f"`{name}` " if key else ""
    if not is_unknown:
        return DecodeProblem(key or name, f"{prefix}is missing", key or name, number)
    fields = _TABLE_TYPES.get(key, Rule).__struct_fields__
    known = [_TABLE_BY_FIELD.get(field, field) for field in fields if field != "pack"]
    return DecodeProblem(key or name, f"{prefix}is unknown; {format_suggestion(name, known)}", name, 0)


def render_rule_file(name: str, agent: str = "") -> str:
    """Render the file of a new rule, which is rejected until all placeholders are filled in."""
    return f"""\
# A rule of your own. `visor rules lint` reports what is missing; `visor rules test "<text>"` tests it.
id = "{name}"
since = "1"                # the first version of this pack that has the rule
agent = "{agent}"                 # only in panes of this agent, such as claude_code; empty for every pane
scope = "line"             # line: one line or screen row; stream: up to four printed lines
anchors = []               # plain texts; every match contains one of them: makes the rule cheap
pattern = '^{PLACEHOLDER} (?P<what>\\w+)$'
severity = "info"          # info, warning, error, critical
event = "{_suggest_event(name)}"
cooldown = 60              # seconds before the same event is reported again in a pane
remedy = ""                # the workflow that handles it; empty for none
why = "{PLACEHOLDER}: what it means, for a person"

[[hit]]                    # a text that it must match, and its captures
text = "{PLACEHOLDER}"
captures = {{ what = "{PLACEHOLDER}" }}

[[miss]]                   # a similar text that it must not match
text = "{PLACEHOLDER}"
why = "{PLACEHOLDER}"
"""


def render_pack_file(name: str) -> str:
    return f'name = "{name}"\nversion = "1"\ndescription = "Rules of our own."\n'


def _suggest_event(name: str) -> str:
    words = name.split(".")
    return ".".join(words[-2:] if len(words) > 1 else ["custom", *words])
