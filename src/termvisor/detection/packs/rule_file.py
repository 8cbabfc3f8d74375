"""Parse one TOML file of a pack into a ``Rule``, or a ``RuleProblem`` with line and reason."""

import os
import re
import tomllib
from typing import Any

import msgspec

from termvisor.detection.packs.decode_errors import describe_decode_error
from termvisor.detection.packs.pack import RuleProblem
from termvisor.detection.packs.template import PLACEHOLDER
from termvisor.detection.packs.version_range import is_valid_range
from termvisor.model.detection.rule import Rule
from termvisor.model.event_types import is_event_type
from termvisor.system.regular_file import open_regular_file

MAX_FILE_BYTES = 64 << 10
"""Larger files are not read."""
_RULE_ID = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+")
_FIELD_BY_TABLE = {"hit": "hits", "miss": "misses"}
_TABLE_BY_FIELD = {"hits": "hit", "misses": "miss"}
_LINE_AND_COLUMN = re.compile(r"\(at line (\d+), column (\d+)\)")


def read_rule(path: str, pack: str) -> Rule | RuleProblem:
    text = read_text(path)
    if isinstance(text, RuleProblem):
        return text
    values = parse_toml(text, path)
    return values if isinstance(values, RuleProblem) else _build_rule(values, text, path, pack)


def read_text(path: str) -> str | RuleProblem:
    try:
        with open(path, encoding="utf-8-sig", opener=open_regular_file) as file:  # some editors write a byte order mark
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
        position = _LINE_AND_COLUMN.search(str(error))
        why = _LINE_AND_COLUMN.sub("", str(error)).strip() or "is nested too deeply"
        return RuleProblem(file=path, line=int(position[1]) if position else None, why=f"is not valid TOML: {why}")


def find_line(key: str, text: str, number: int = 0) -> int | None:
    """Return the line of a key, or of the table ``number`` with that name."""
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
    """Return what the types cannot check, as (key, why)."""
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
