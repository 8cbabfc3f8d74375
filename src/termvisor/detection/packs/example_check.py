"""Check a rule against its own examples: it matches every hit, no miss, and cannot backtrack without bound."""

from typing import NamedTuple

from termvisor.detection.packs.backtracking_check import MAX_WIDE_REPEATS, find_backtracking_risk
from termvisor.detection.packs.pattern_match import WINDOW_LINES, find_match, has_anchor
from termvisor.errors import ConfigError
from termvisor.model.detection.rule import MatchingExample, Rule
from termvisor.regex import compile_patterns, dialect

_MAX_WIDE_ON_SCREEN = 4
"""More than for lines: a part of a screen is small and matched only when it changed."""


class ExampleProblem(NamedTuple):
    """``number`` counts tables of one name from 0."""

    key: str
    why: str
    number: int = 0


def find_problems(rule: Rule) -> list[ExampleProblem]:
    """Return the problems of a rule; empty if it may be loaded."""
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
    """Return why no engine accepts the pattern; empty if one does."""
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
