"""What the decoder says of a rule's file, in the words of somebody who wrote it: which key, which of several, and why.

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
_ERROR_TYPES = re.compile(r"Expected `(?P<wanted>\w+)[^`]*`, got `(?P<given>\w+)`")
_ERROR_ENUM = re.compile(r"Invalid enum value (?P<given>.+)")


class DecodeProblem(NamedTuple):
    """``shown`` is the key by whose line it is found; ``number`` counts tables of one name from 0."""

    key: str
    why: str
    shown: str = ""
    number: int = 0


def describe_decode_error(error: str) -> DecodeProblem:
    place = _ERROR_PATH.search(error)
    told = _ERROR_PATH.sub("", error)
    key = _TABLE_NAMES.get(place["top"], place["top"]) if place else ""
    number = int(place["number"] or 0) if place and key in _TABLE_TYPES else 0
    if field := _ERROR_FIELD.search(told):
        return _describe_field_error(key, field["name"], number, is_unknown=field["what"] == "unknown")
    said = _describe_inner_key(place["inner"]) if place and key in _TABLE_TYPES else ""
    if types := _ERROR_TYPES.search(told):
        given, wanted = (_TYPE_NAMES.get(types[name], types[name]) for name in ("given", "wanted"))
        hint = f": write [[{key}]], with two brackets" if key in _TABLE_TYPES and types["given"] == "object" else ""
        return DecodeProblem(key, f"{said}is {given}, and must be {wanted}{hint}", key, number)
    if choice := _ERROR_ENUM.search(told):
        return DecodeProblem(key, f"{choice['given']} is none of {', '.join(_CHOICES_BY_KEY.get(key, ()))}", key)
    return DecodeProblem(key, told, key, number)


def _describe_inner_key(path: str) -> str:
    name, bracket, _ = path.partition("[")
    return f"{'a value of ' if bracket else ''}`{name}` " if name else ""


def _describe_field_error(key: str, name: str, number: int, *, is_unknown: bool) -> DecodeProblem:
    """A key too many, or one too few; in a table, that table's key comes first."""
    said = f"`{name}` " if key else ""
    if not is_unknown:
        return DecodeProblem(key or name, f"{said}is missing", key or name, number)
    kind = _TABLE_TYPES.get(key, Rule)
    known = [_TABLE_NAMES.get(one, one) for one in kind.__struct_fields__ if one != "pack"]
    return DecodeProblem(key or name, f"{said}is unknown; {format_suggestion(name, known)}", name, 0)
