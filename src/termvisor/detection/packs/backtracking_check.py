"""Patterns that some text makes slow are refused before they meet one.

The engines are linear whatever they are given; captures are taken by ``re``, which is not. A repeat without an end
inside another makes it explode, and so do many of them that take anything, one after the other.
"""

import warnings
from typing import Any

MOST_WIDE = 2
"""Repeats without an end that take anything: a line has at most 4096 characters, so two cost next to nothing."""
_ENDLESS = 512
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def complaint(pattern: str, most_wide: int = MOST_WIDE) -> str:
    """Why this pattern may be slow; empty where it cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from re import _parser  # type: ignore[attr-defined]  # the standard library's own reader of patterns

        tree = _parser.parse(pattern)
    if _depth(tree) > 1:
        return "it repeats a repeat, such as (a+)+, which some texts make endlessly slow; write one repeat"
    if (count := _wide(tree)) > most_wide:
        return f"{count} repeats such as .* take anything; at most {most_wide} may: give the others an end, .{{0,200}}"
    return ""


def _depth(tree: Any) -> int:
    """How deep repeats without an end stand in each other."""
    return max((_depth_of(str(name), given) for name, given in tree), default=0)


def _depth_of(name: str, given: Any) -> int:
    own = name in _REPEATS and int(given[1]) >= _ENDLESS
    return own + max(map(_depth, _inside(name, given)), default=0)


def _wide(tree: Any) -> int:
    """How many repeats without an end that take anything may come one after the other."""
    return sum(_wide_of(str(name), given) for name, given in tree)


def _wide_of(name: str, given: Any) -> int:
    if name in _REPEATS and int(given[1]) >= _ENDLESS and any(_takes_much(str(one), what) for one, what in given[2]):
        return 1
    return max(map(_wide, _inside(name, given)), default=0)


def _takes_much(name: str, given: Any) -> bool:
    if name == "IN":
        return any(str(one) == "NEGATE" or "NOT_" in str(what) for one, what in given)
    return name in ("ANY", "NOT_LITERAL") or any(
        _takes_much(str(one), what) for inner in _inside(name, given) for one, what in inner
    )


def _inside(name: str, given: Any) -> list[Any]:
    if name in _REPEATS:
        return [given[2]]
    if name == "SUBPATTERN":
        return [given[-1]]
    if name == "BRANCH":
        return list(given[1])
    return [given] if name == "ATOMIC_GROUP" else []
