"""Patterns that some text makes slow are refused before they meet one.

The engines are linear whatever they are given; captures are taken by ``re``, which is not. A repeat without an end
inside another makes it explode, and so do many of them that take anything, one after the other.
"""

import warnings
from typing import Any

MAX_WIDE_REPEATS = 2
"""Repeats without an end that take anything: a line has at most 4096 characters, so two cost next to nothing."""
_UNBOUNDED_REPEAT = 512
_REPEAT_OPS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def find_backtracking_risk(pattern: str, max_wide: int = MAX_WIDE_REPEATS) -> str:
    """Why this pattern may be slow; empty where it cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from re import _parser  # type: ignore[attr-defined]  # the standard library's own reader of patterns

        tree = _parser.parse(pattern)
    if _measure_depth(tree) > 1:
        return "it repeats a repeat, such as (a+)+, which some texts make endlessly slow; write one repeat"
    if (count := _count_wide_repeats(tree)) > max_wide:
        return f"{count} repeats such as .* take anything; at most {max_wide} may: give the others an end, .{{0,200}}"
    return ""


def _measure_depth(tree: Any) -> int:
    """How deep repeats without an end stand in each other."""
    return max((_measure_node_depth(str(name), given) for name, given in tree), default=0)


def _measure_node_depth(name: str, given: Any) -> int:
    own = name in _REPEAT_OPS and int(given[1]) >= _UNBOUNDED_REPEAT
    return own + max(map(_measure_depth, _list_children(name, given)), default=0)


def _count_wide_repeats(tree: Any) -> int:
    """How many repeats without an end that take anything may come one after the other."""
    return sum(_count_node_wide_repeats(str(name), given) for name, given in tree)


def _count_node_wide_repeats(name: str, given: Any) -> int:
    if (
        name in _REPEAT_OPS
        and int(given[1]) >= _UNBOUNDED_REPEAT
        and any(_is_wide(str(one), what) for one, what in given[2])
    ):
        return 1
    return max(map(_count_wide_repeats, _list_children(name, given)), default=0)


def _is_wide(name: str, given: Any) -> bool:
    if name == "IN":
        return any(str(one) == "NEGATE" or "NOT_" in str(what) for one, what in given)
    return name in ("ANY", "NOT_LITERAL") or any(
        _is_wide(str(one), what) for inner in _list_children(name, given) for one, what in inner
    )


def _list_children(name: str, given: Any) -> list[Any]:
    if name in _REPEAT_OPS:
        return [given[2]]
    if name == "SUBPATTERN":
        return [given[-1]]
    if name == "BRANCH":
        return list(given[1])
    return [given] if name == "ATOMIC_GROUP" else []
