"""Decide whether a rule applies: match its pattern, extract the captures, and check its range of agent versions.

In: a text of one line (scope `line`) or at most four (scope `stream`). Out: the span and the captures. Shared by the
scanner, the rule tester and lint.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest

from msgspec import Struct

from termvisor.model.detection.rule import Rule

WINDOW_LINES = 4
"""Maximum number of lines that a match of a `stream` rule may span."""
# Scopes of rules that match printed text.
_TEXTS = ("line", "stream")
_BOUND_PATTERN = re.compile(r"\s*(>=|<=|==|!=|>|<)?\s*(\d+(?:\.\d+)*)\s*")
_VERSION_PATTERN = re.compile(r"\d+(?:\.\d+)*")
# For each operator, the results of comparing the version with the bound that satisfy it.
_ALLOWED_ORDERS = {">=": (0, 1), "<=": (-1, 0), "==": (0,), "!=": (-1, 1), ">": (1,), "<": (-1,)}


class PatternSpan(Struct, frozen=True):
    start: int
    end: int
    captures: dict[str, str]


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in the dialect of `termvisor.regex`: ``^`` and ``$`` match at every line, classes are ASCII."""
    return re.compile(pattern, re.MULTILINE | re.ASCII)


def find_match(rule: Rule, text: str) -> PatternSpan | None:
    """Return the first match. Text without any of the anchors is rejected cheaply, before the pattern is tried."""
    match = find_match_ending_after(rule, text)
    return PatternSpan(match.start(), match.end(), extract_captures(match)) if match else None


def find_match_ending_after(rule: Rule, text: str, after: int = 0) -> re.Match[str] | None:
    """Return the first match that ends after this offset (in a window of lines: on its last line)."""
    if not has_anchor(rule, text):
        return None
    return next((match for match in compile_pattern(rule.pattern).finditer(text) if match.end() > after), None)


def find_banner_version(rules: Iterable[Rule], agent: str, rows: Sequence[str]) -> str:
    """Return the version in the banner that an agent prints at its start; empty if no row shows one."""
    text = "\n".join(rows)
    banners = (rule for rule in rules if rule.agent == agent and rule.event == "session.start" and rule.scope in _TEXTS)
    versions = (span.captures.get("version", "") for rule in banners if (span := find_match(rule, text)) is not None)
    return next((version for version in versions if version), "")


def has_anchor(rule: Rule, text: str) -> bool:
    return not rule.anchors or any(anchor in text for anchor in rule.anchors)


def extract_captures(match: re.Match[str]) -> dict[str, str]:
    """Return the named groups that matched, each as one line. A group `at__2` is an alternative to `at`."""
    values = {name: " ".join(value.split()) for name, value in match.groupdict().items() if value}
    return {name.partition("__")[0]: value for name, value in values.items() if value}


def is_in_range(version: str, version_range: str) -> bool:
    """Return True if all comma-separated bounds hold, such as ``>=0.150,<1``; a bare number means exactly that version.

    An unknown version is in every range.
    """
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
