"""What the decoder says of a rule's file, in the words of somebody who wrote it: which key, which of several, and why.

`Expected `str`, got `int` - at `$.hits[1].text`` becomes: the second `hit`: `text` is a number and must be a text.
"""

import re
from typing import NamedTuple, get_args

from termvisor.model.agent.state import StateName
from termvisor.model.detection.rule import Also, Flag, Hit, Miss, Rule, Scope, Severity
from termvisor.model.did_you_mean import meant

_CHOICES = {
    "scope": get_args(Scope),
    "severity": get_args(Severity),
    "flag": get_args(Flag),
    "state": get_args(StateName),
}
_PLURALS = {"hits": "hit", "misses": "miss"}
_INNER = {"hit": Hit, "miss": Miss, "also": Also, "unless": Also}
_KINDS = {
    "str": "a text in quotes",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_PATH = re.compile(r" - at `\$\.?(?P<top>\w*)(?:\[(?P<number>\d+)\])?\.?(?P<inner>[^`]*)`")
_FIELD = re.compile(r"(?P<what>unknown|missing required) field `(?P<name>\w+)`")
_TYPES = re.compile(r"Expected `(?P<wanted>\w+)[^`]*`, got `(?P<given>\w+)`")
_ENUM = re.compile(r"Invalid enum value (?P<given>.+)")


class Refusal(NamedTuple):
    """``shown`` is the key by whose line it is found; ``number`` counts tables of one name from 0."""

    key: str
    why: str
    shown: str = ""
    number: int = 0


def refusal(error: str) -> Refusal:
    place = _PATH.search(error)
    told = _PATH.sub("", error)
    key = _PLURALS.get(place["top"], place["top"]) if place else ""
    number = int(place["number"] or 0) if place and key in _INNER else 0
    if field := _FIELD.search(told):
        return _of_field(key, field["name"], number, is_unknown=field["what"] == "unknown")
    said = _inside(place["inner"]) if place and key in _INNER else ""
    if types := _TYPES.search(told):
        given, wanted = (_KINDS.get(types[name], types[name]) for name in ("given", "wanted"))
        hint = f": write [[{key}]], with two brackets" if key in _INNER and types["given"] == "object" else ""
        return Refusal(key, f"{said}is {given}, and must be {wanted}{hint}", key, number)
    if choice := _ENUM.search(told):
        return Refusal(key, f"{choice['given']} is none of {', '.join(_CHOICES.get(key, ()))}", key)
    return Refusal(key, told, key, number)


def _inside(path: str) -> str:
    name, bracket, _ = path.partition("[")
    return f"{'a value of ' if bracket else ''}`{name}` " if name else ""


def _of_field(key: str, name: str, number: int, *, is_unknown: bool) -> Refusal:
    """A key too many, or one too few; in a table, that table's key comes first."""
    said = f"`{name}` " if key else ""
    if not is_unknown:
        return Refusal(key or name, f"{said}is missing", key or name, number)
    kind = _INNER.get(key, Rule)
    known = [_PLURALS.get(one, one) for one in kind.__struct_fields__ if one != "pack"]
    return Refusal(key or name, f"{said}is unknown; {meant(name, known)}", name, 0)
