"""Translate msgspec's decode errors into the terms of a rule file: which key, which table, and why.

`Expected `str`, got `int` - at `$.hits[1].text`` becomes: the second `hit`: `text` is a number and must be a text.
"""

import re
from typing import NamedTuple, get_args

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

_CHOICES_BY_KEY = {
    "scope": get_args(RuleScope),
    "severity": get_args(Severity),
    "flag": get_args(RuleFlag),
    "state": get_args(StateName),
}
_TABLE_NAMES = {"hits": "hit", "misses": "miss"}
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


class DecodeProblem(NamedTuple):
    """``shown`` is the key that is searched for in the file; ``number`` counts tables of one name from 0."""

    key: str
    why: str
    shown: str = ""
    number: int = 0


def describe_decode_error(error: str) -> DecodeProblem:
    path = _ERROR_PATH.search(error)
    message = _ERROR_PATH.sub("", error)
    key = _TABLE_NAMES.get(path["top"], path["top"]) if path else ""
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
    """Describe an unknown or missing key; ``key`` is the table that it belongs to, or empty."""
    prefix = f"`{name}` " if key else ""
    if not is_unknown:
        return DecodeProblem(key or name, f"{prefix}is missing", key or name, number)
    fields = _TABLE_TYPES.get(key, Rule).__struct_fields__
    known = [_TABLE_NAMES.get(field, field) for field in fields if field != "pack"]
    return DecodeProblem(key or name, f"{prefix}is unknown; {format_suggestion(name, known)}", name, 0)
