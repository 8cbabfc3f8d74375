"""Check that a rule's patterns are supported and cannot make ``re`` slow, and that it matches its own examples.

The scan engines run in linear time, but ``re``, which extracts the captures, does not: an unbounded repeat inside
another takes exponential time, and several unbounded repeats that match anything take polynomial time.
"""

import warnings
from typing import Any, NamedTuple

from termvisor.detection.packs.rule_match import WINDOW_LINES, find_match, has_anchor
from termvisor.errors import ConfigError
from termvisor.model.detection.rule import MatchingExample, Rule
from termvisor.regex import compile_patterns, dialect

MAX_WIDE_REPEATS = 2
"""Maximum number of unbounded repeats that match anything. Two are cheap, since a line has at most 4096 characters."""
# A repeat with at least this maximum counts as unbounded.
_UNBOUNDED_REPEAT = 512
_REPEAT_OPS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
# More than for lines, because a screen region is small and matched only when it changes.
_MAX_WIDE_ON_SCREEN = 4


class ExampleProblem(NamedTuple):
    """A problem with one table of a rule; ``number`` counts tables of the same name from 0."""

    key: str
    why: str
    number: int = 0


def find_problems(rule: Rule) -> list[ExampleProblem]:
    """Return the problems with a rule; empty if it may be loaded."""
    conditions = (("also", rule.also), ("unless", rule.unless))
    others = [(key, condition.pattern) for key, group in conditions for condition in group]
    max_wide = _MAX_WIDE_ON_SCREEN if rule.scope == "screen" else MAX_WIDE_REPEATS
    for key, pattern in (("pattern", rule.pattern), *others):
        if (
            why := dialect.find_pattern_problem(pattern)
            or find_backtracking_risk(pattern, max_wide)
            or _check_engine_support(pattern)
        ):
            return [ExampleProblem(key, f"cannot be used: {why}")]
    hits = [(number, _check_hit(rule, hit)) for number, hit in enumerate(rule.hits)]
    misses = [(number, miss.text) for number, miss in enumerate(rule.misses) if find_match(rule, miss.text)]
    return [
        *(ExampleProblem("hit", why, number) for number, why in hits if why),
        *(ExampleProblem("miss", f"matches, and must not: {_shorten(text)}", number) for number, text in misses),
    ]


def _check_engine_support(pattern: str) -> str:
    """Return why no engine accepts the pattern; empty if an engine does."""
    try:
        compile_patterns({"pattern": pattern}, "re2")
    except ConfigError:
        return "look-around, back-references and possessive repeats are not supported"
    return ""


def _check_hit(rule: Rule, hit: MatchingExample) -> str:
    lines = hit.text.count("\n") + 1
    if rule.scope == "line" and lines > 1:
        return f"has {lines} lines, but a rule of scope line matches within one: {_shorten(hit.text)}"
    if rule.scope == "stream" and lines > WINDOW_LINES:
        return f"has {lines} lines, but a rule of scope stream matches within {WINDOW_LINES}: {_shorten(hit.text)}"
    span = find_match(rule, hit.text)
    if span is None:
        missing = "" if has_anchor(rule, hit.text) else " (it contains none of the anchors)"
        return f"does not match: {_shorten(hit.text)}{missing}"
    if span.captures != hit.captures:
        return f"gives the captures {span.captures}, not {hit.captures}: {_shorten(hit.text)}"
    return ""


def _shorten(text: str) -> str:
    shown = text if len(text) <= 80 else f"{text[:79]}…"
    return repr(shown)


def find_backtracking_risk(pattern: str, max_wide: int = MAX_WIDE_REPEATS) -> str:
    """Return why this pattern may be slow; empty if it never is."""
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
    """Return how deeply unbounded repeats are nested."""
    return max((_measure_node_depth(str(name), argument) for name, argument in tree), default=0)


def _measure_node_depth(name: str, argument: Any) -> int:
    own = name in _REPEAT_OPS and int(argument[1]) >= _UNBOUNDED_REPEAT
    return own + max(map(_measure_depth, _list_children(name, argument)), default=0)


def _count_wide_repeats(tree: Any) -> int:
    """Return how many unbounded repeats that match anything can follow one another."""
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
