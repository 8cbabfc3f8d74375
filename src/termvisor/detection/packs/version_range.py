"""Check whether an agent's version is in a rule's range, such as ``>=0.150,<1``; an unknown version is."""

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
"""The results of comparing the version with the bound that satisfy each operator."""


def is_in_range(version: str, version_range: str) -> bool:
    """Return True if all comma-separated bounds hold; a bare number means exactly that version."""
    match = _VERSION_PATTERN.search(version)
    if not version_range.strip() or match is None:
        return True
    return all(_is_bound_met(match[0], bound) for bound in version_range.split(","))


def is_valid_range(text: str) -> bool:
    return all(_BOUND_PATTERN.fullmatch(bound) for bound in text.split(",")) if text else True


def _is_bound_met(version: str, bound: str) -> bool:
    """Return True if the version satisfies the bound; an invalid bound is never satisfied."""
    match = _BOUND_PATTERN.fullmatch(bound)
    return match is not None and _compare_versions(version, match[2]) in _ALLOWED_ORDERS[match[1] or "=="]


def _compare_versions(version: str, bound: str) -> int:
    """Return -1, 0 or 1 if the version is lower, equal or higher; missing numbers count as 0."""
    pairs = zip_longest(map(int, version.split(".")), map(int, bound.split(".")), fillvalue=0)
    return next((1 if left > right else -1 for left, right in pairs if left != right), 0)
