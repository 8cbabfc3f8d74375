"""Whether a rule does what its file says: it finds its hits, leaves its misses alone, and no text makes it slow."""

from typing import NamedTuple

from termvisor.detection.packs.backtracking_check import MAX_WIDE_REPEATS, find_backtracking_risk
from termvisor.detection.packs.pattern_match import WINDOW_LINES, find_match
from termvisor.errors import ConfigError
from termvisor.model.detection.rule import MatchingExample, Rule
from termvisor.regex import compile_patterns, dialect

_MAX_WIDE_ON_SCREEN = 4
"""A part of a screen is small, and looked at only when it changed."""


class ExampleProblem(NamedTuple):
    """``number`` counts tables of one name from 0."""

    key: str
    why: str
    number: int = 0


def find_problems(rule: Rule) -> list[ExampleProblem]:
    """None for a rule that may be loaded."""
    others = [("also", one.pattern) for one in rule.also] + [("unless", one.pattern) for one in rule.unless]
    for key, pattern in (("pattern", rule.pattern), *others):
        most_wide = _MAX_WIDE_ON_SCREEN if rule.scope == "screen" else MAX_WIDE_REPEATS
        if (
            why := dialect.find_pattern_problem(pattern)
            or find_backtracking_risk(pattern, most_wide)
            or _check_engine_support(pattern)
        ):
            return [ExampleProblem(key, f"cannot be used: {why}")]
    wrong = [ExampleProblem("hit", why, place) for place, hit in enumerate(rule.hits) if (why := _check_hit(rule, hit))]
    wrong += [
        ExampleProblem("miss", f"is found, and must not be: {_shorten(miss.text)}", place)
        for place, miss in enumerate(rule.misses)
        if find_match(rule, miss.text)
    ]
    return wrong


def _check_engine_support(pattern: str) -> str:
    """Whether any engine takes it: look-around and back-references are for none."""
    try:
        compile_patterns({"pattern": pattern}, "re2")
    except ConfigError:
        return "look-around, back-references and possessive repeats are not supported"
    return ""


def _check_hit(rule: Rule, hit: MatchingExample) -> str:
    lines = hit.text.count("\n") + 1
    if rule.scope == "line" and lines > 1:
        return f"has {lines} lines, and a rule of scope line sees one: {_shorten(hit.text)}"
    if rule.scope == "stream" and lines > WINDOW_LINES:
        return f"has {lines} lines, and a rule of scope stream sees {WINDOW_LINES}: {_shorten(hit.text)}"
    found = find_match(rule, hit.text)
    if found is None:
        return f"is not found: {_shorten(hit.text)}{_describe_missing_anchors(rule, hit.text)}"
    if found.captures != hit.captures:
        return f"gives the captures {found.captures}, not {hit.captures}: {_shorten(hit.text)}"
    return ""


def _describe_missing_anchors(rule: Rule, text: str) -> str:
    lacks = rule.anchors and not any(anchor in text for anchor in rule.anchors)
    return " (none of the anchors stands in it)" if lacks else ""


def _shorten(text: str) -> str:
    shown = text if len(text) <= 80 else f"{text[:79]}…"
    return repr(shown)
