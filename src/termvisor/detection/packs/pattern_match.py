"""Where a rule's pattern stands in a text, and what it takes from it: one meaning for the engine, the tests and lint.

In: a text, which for `line` is one line and for `stream` at most four. Out: the span and the captures.
"""

import re
from functools import lru_cache

from msgspec import Struct

from termvisor.model.detection.rule import Rule

WINDOW_LINES = 4
"""Lines over which a `stream` rule may reach."""


class PatternSpan(Struct, frozen=True):
    start: int
    end: int
    captures: dict[str, str]


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The dialect of `termvisor.match`: ``^`` and ``$`` at every line; classes know ASCII only."""
    return re.compile(pattern, re.MULTILINE | re.ASCII)


def find_match(rule: Rule, text: str) -> PatternSpan | None:
    """The first place. Anchors are the cheap look: without one of them the pattern is not even tried."""
    match = find_match_ending_after(rule, text)
    return PatternSpan(match.start(), match.end(), extract_captures(match)) if match else None


def find_match_ending_after(rule: Rule, text: str, after: int = 0) -> re.Match[str] | None:
    """The first match that ends behind this place: in a window, on its last line."""
    if not has_anchor(rule, text):
        return None
    return next((match for match in compile_pattern(rule.pattern).finditer(text) if match.end() > after), None)


def has_anchor(rule: Rule, text: str) -> bool:
    return not rule.anchors or any(anchor in text for anchor in rule.anchors)


def extract_captures(match: re.Match[str]) -> dict[str, str]:
    """Named groups that took part, on one line each. `at__2` is another spelling of `at`: a name stands only once."""
    taken = {name: " ".join(value.split()) for name, value in match.groupdict().items() if value}
    return {name.partition("__")[0]: value for name, value in taken.items() if value}
