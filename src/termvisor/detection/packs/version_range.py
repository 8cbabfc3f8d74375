"""Whether an agent's version is one that a rule is for: ``>=0.150,<1``. Of a version that is not known, it may be."""

import re
from itertools import zip_longest

_BOUND = re.compile(r"\s*(>=|<=|==|!=|>|<)?\s*(\d+(?:\.\d+)*)\s*")
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_MEANING = {
    ">=": (0, 1),
    "<=": (-1, 0),
    "==": (0,),
    "!=": (-1, 1),
    ">": (1,),
    "<": (-1,),
}
"""How the version may stand to the bound: before it, at it, behind it."""


def fits(version: str, wanted: str) -> bool:
    """``wanted`` is bounds joined by commas, each of which must hold; a number alone means that very version."""
    found = _NUMBERS.search(version)
    if not wanted.strip() or found is None:
        return True
    return all(_holds(found[0], bound) for bound in wanted.split(","))


def is_range(text: str) -> bool:
    return all(_BOUND.fullmatch(bound) for bound in text.split(",")) if text else True


def _holds(version: str, bound: str) -> bool:
    """What is no bound holds for nobody."""
    read = _BOUND.fullmatch(bound)
    return read is not None and _order(version, read[2]) in _MEANING[read[1] or "=="]


def _order(one: str, other: str) -> int:
    """-1, 0, 1: one stands before, at, behind the other; numbers that are not said are 0."""
    pairs = zip_longest(map(int, one.split(".")), map(int, other.split(".")), fillvalue=0)
    return next((1 if ours > theirs else -1 for ours, theirs in pairs if ours != theirs), 0)
