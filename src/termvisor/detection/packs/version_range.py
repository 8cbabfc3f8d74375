"""Whether an agent's version is one that a rule is for: ``>=0.150,<1``. Of a version that is not known, it may be."""

import re
from itertools import zip_longest

_BOUND_PATTERN = re.compile(r"\s*(>=|<=|==|!=|>|<)?\s*(\d+(?:\.\d+)*)\s*")
_VERSION_PATTERN = re.compile(r"\d+(?:\.\d+)*")
_ALLOWED_ORDERS = {
    ">=": (0, 1),
    "<=": (-1, 0),
    "==": (0,),
    "!=": (-1, 1),
    ">": (1,),
    "<": (-1,),
}
"""How the version may stand to the bound: before it, at it, behind it."""


def is_in_range(version: str, version_range: str) -> bool:
    """``wanted`` is bounds joined by commas, each of which must hold; a number alone means that very version."""
    found = _VERSION_PATTERN.search(version)
    if not version_range.strip() or found is None:
        return True
    return all(_is_bound_met(found[0], bound) for bound in version_range.split(","))


def is_valid_range(text: str) -> bool:
    return all(_BOUND_PATTERN.fullmatch(bound) for bound in text.split(",")) if text else True


def _is_bound_met(version: str, bound: str) -> bool:
    """What is no bound holds for nobody."""
    read = _BOUND_PATTERN.fullmatch(bound)
    return read is not None and _compare_versions(version, read[2]) in _ALLOWED_ORDERS[read[1] or "=="]


def _compare_versions(one: str, other: str) -> int:
    """-1, 0, 1: one stands before, at, behind the other; numbers that are not said are 0."""
    pairs = zip_longest(map(int, one.split(".")), map(int, other.split(".")), fillvalue=0)
    return next((1 if ours > theirs else -1 for ours, theirs in pairs if ours != theirs), 0)
