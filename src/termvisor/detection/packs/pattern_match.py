"""Match a rule's pattern in a text and extract its captures; shared by the scanner, the rule tester and lint.

In: a text, one line for scope `line` and at most four for `stream`. Out: the span and the captures.
"""

import re
from functools import lru_cache

from msgspec import Struct

from termvisor.model.detection.rule import Rule

WINDOW_LINES = 4
"""Lines that a match of a `stream` rule may span."""


class PatternSpan(Struct, frozen=True):
    start: int
    end: int
    captures: dict[str, str]


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in the dialect of `termvisor.regex`: ``^`` and ``$`` match at every line, classes are ASCII."""
    return re.compile(pattern, re.MULTILINE | re.ASCII)


def find_match(rule: Rule, text: str) -> PatternSpan | None:
    """Return the first match. A text without any anchor is rejected before the pattern is tried, which is cheap."""
    match = find_match_ending_after(rule, text)
    return PatternSpan(match.start(), match.end(), extract_captures(match)) if match else None


def find_match_ending_after(rule: Rule, text: str, after: int = 0) -> re.Match[str] | None:
    """Return the first match that ends after this offset; in a window, on its last line."""
    if not has_anchor(rule, text):
        return None
    return next((match for match in compile_pattern(rule.pattern).finditer(text) if match.end() > after), None)


def has_anchor(rule: Rule, text: str) -> bool:
    return not rule.anchors or any(anchor in text for anchor in rule.anchors)


def extract_captures(match: re.Match[str]) -> dict[str, str]:
    """Return the matched named groups, each as one line. A group `at__2` is an alternative of `at`."""
    values = {name: " ".join(value.split()) for name, value in match.groupdict().items() if value}
    return {name.partition("__")[0]: value for name, value in values.items() if value}
