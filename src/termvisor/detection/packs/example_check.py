"""Whether a rule does what its file says: it finds its hits, leaves its misses alone, and no text makes it slow."""

from typing import NamedTuple

from termvisor.detection.packs.backtracking_check import MOST_WIDE, complaint
from termvisor.detection.packs.pattern_match import WINDOW, find
from termvisor.errors import ConfigError
from termvisor.model.detection.rule import Hit, Rule
from termvisor.regex import compile_patterns, dialect

_ON_A_SCREEN = 4
"""A part of a screen is small, and looked at only when it changed."""


class Complaint(NamedTuple):
    """``number`` counts tables of one name from 0."""

    key: str
    why: str
    number: int = 0


def complaints(rule: Rule) -> list[Complaint]:
    """None for a rule that may be loaded."""
    others = [("also", one.pattern) for one in rule.also] + [("unless", one.pattern) for one in rule.unless]
    for key, pattern in (("pattern", rule.pattern), *others):
        most_wide = _ON_A_SCREEN if rule.scope == "screen" else MOST_WIDE
        if why := dialect.check(pattern) or complaint(pattern, most_wide) or _refused(pattern):
            return [Complaint(key, f"cannot be used: {why}")]
    wrong = [Complaint("hit", why, place) for place, hit in enumerate(rule.hits) if (why := _of_hit(rule, hit))]
    wrong += [
        Complaint("miss", f"is found, and must not be: {_short(miss.text)}", place)
        for place, miss in enumerate(rule.misses)
        if find(rule, miss.text)
    ]
    return wrong


def _refused(pattern: str) -> str:
    """Whether any engine takes it: look-around and back-references are for none."""
    try:
        compile_patterns({"pattern": pattern}, "re2")
    except ConfigError:
        return "look-around, back-references and possessive repeats are not supported"
    return ""


def _of_hit(rule: Rule, hit: Hit) -> str:
    lines = hit.text.count("\n") + 1
    if rule.scope == "line" and lines > 1:
        return f"has {lines} lines, and a rule of scope line sees one: {_short(hit.text)}"
    if rule.scope == "stream" and lines > WINDOW:
        return f"has {lines} lines, and a rule of scope stream sees {WINDOW}: {_short(hit.text)}"
    found = find(rule, hit.text)
    if found is None:
        return f"is not found: {_short(hit.text)}{_anchors(rule, hit.text)}"
    if found.captures != hit.captures:
        return f"gives the captures {found.captures}, not {hit.captures}: {_short(hit.text)}"
    return ""


def _anchors(rule: Rule, text: str) -> str:
    lacks = rule.anchors and not any(anchor in text for anchor in rule.anchors)
    return " (none of the anchors stands in it)" if lacks else ""


def _short(text: str) -> str:
    shown = text if len(text) <= 80 else f"{text[:79]}…"
    return repr(shown)
