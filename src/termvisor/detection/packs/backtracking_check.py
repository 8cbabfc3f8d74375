"""Reject patterns that can make ``re`` slow by backtracking.

The scan engines run in linear time, but captures are extracted by ``re``, which does not. An unbounded repeat inside
another one takes exponential time, and several unbounded repeats that match anything take polynomial time.
"""

import warnings
from typing import Any

MAX_WIDE_REPEATS = 2
"""Unbounded repeats that match anything: two are cheap, since a line has at most 4096 characters."""
_UNBOUNDED_REPEAT = 512
"""A repeat with at least this maximum counts as unbounded."""
_REPEAT_OPS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def find_backtracking_risk(pattern: str, max_wide: int = MAX_WIDE_REPEATS) -> str:
    """Return why this pattern may be slow; empty if it cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from re import _parser  # type: ignore[attr-defined]  # the standard library's own pattern parser

        tree = _parser.parse(pattern)
    if _measure_depth(tree) > 1:
        return "it repeats a repeat, such as (a+)+, which takes exponential time on some texts; write one repeat"
    if (count := _count_wide_repeats(tree)) > max_wide:
        return f"{count} repeats such as .* match anything; at most {max_wide} may: bound the others, .{{0,200}}"
    return ""


def _measure_depth(tree: Any) -> int:
    """Return how deep unbounded repeats are nested."""
    return max((_measure_node_depth(str(name), argument) for name, argument in tree), default=0)


def _measure_node_depth(name: str, argument: Any) -> int:
    own = name in _REPEAT_OPS and int(argument[1]) >= _UNBOUNDED_REPEAT
    return own + max(map(_measure_depth, _list_children(name, argument)), default=0)


def _count_wide_repeats(tree: Any) -> int:
    """Return how many unbounded repeats that match anything can follow each other."""
    return sum(_count_node_wide_repeats(str(name), argument) for name, argument in tree)


def _count_node_wide_repeats(name: str, argument: Any) -> int:
    if (
        name in _REPEAT_OPS
        and int(argument[1]) >= _UNBOUNDED_REPEAT
        and any(_is_wide(str(inner_name), inner) for inner_name, inner in argument[2])
    ):
        return 1
    return max(map(_count_wide_repeats, _list_children(name, argument)), default=0)


def _is_wide(name: str, argument: Any) -> bool:
    if name == "IN":
        return any(str(item_name) == "NEGATE" or "NOT_" in str(item) for item_name, item in argument)
    return name in ("ANY", "NOT_LITERAL") or any(
        _is_wide(str(inner_name), inner) for child in _list_children(name, argument) for inner_name, inner in child
    )


def _list_children(name: str, argument: Any) -> list[Any]:
    if name in _REPEAT_OPS:
        return [argument[2]]
    if name == "SUBPATTERN":
        return [argument[-1]]
    if name == "BRANCH":
        return list(argument[1])
    return [argument] if name == "ATOMIC_GROUP" else []
