"""Simplify a pattern for the engines. The result matches wherever the original does and is cheaper to scan for.

``re`` verifies every match, so an engine need not count repeats and needs only the part with a long enough literal. A
leading ``.*`` makes every line a candidate. Long counted repeats are too large for Hyperscan, and some crash it.
"""

import re
from collections import deque
from typing import NamedTuple

# Counted repeats up to this maximum are kept.
_MAX_KEPT_REPEAT = 8
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>\d*)(?P<range>,(?P<most>\d*))?\}", re.DOTALL)
_LINE_START = re.compile(r"^\^\\s(?:\*|\{\d+,\d*\})(?![?+])")
# Anchors with optional space are dropped as well, because the text between them is selective enough.
_LINE_END = re.compile(r"(?<!\\)(?:\\s\*)?\$$")
# A literal of this length is selective enough.
_MIN_LITERAL_LENGTH = 4
_UNSUPPORTED_GROUP = re.compile(r"\(\?(?!:|P<)")
_PART_TOKEN = re.compile(
    r"(?P<open>\((?:\?:|\?P<\w+>)?)|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<wide>(?:\.|\[\^\\n\])(?:[*+]|\{\d*,\})[?+]?)|(?P<times>(?:[*+?]|\{\d*,?\d*\})[?+]?)"
    r"|\\u[0-9a-fA-F]{4}|\\[A-Za-z0-9]|\[\^?\]?(?:\\.|[^\]\\])*\]|[.^$]|(?P<letter>\\?.)",
    re.DOTALL,
)
_TokenQueue = deque[re.Match[str]]


def relax_pattern(pattern: str) -> str:
    """Return a cheaper pattern that matches every text that the original matches."""
    return find_selective_part(_TOKEN.sub(_relax_repeat, _LINE_START.sub("", _LINE_END.sub("", pattern))))


def _relax_repeat(token: re.Match[str]) -> str:
    least, most = token["least"], token["most"] if token["range"] else token["least"]
    is_count = bool(token["range"] or least)
    if not is_count or (most and int(most) <= _MAX_KEPT_REPEAT):
        return token[0]
    return "+" if int(least or 0) else "*"


class _PatternPart(NamedTuple):
    """``letters`` is the length of the longest literal in every match; ``is_end`` if the text before it was dropped."""

    text: str = ""
    letters: int = 0
    is_end: bool = False


def find_selective_part(pattern: str) -> str:
    """Return the selective part, or the whole pattern if there is none or it cannot be parsed."""
    # Inline flags affect the rest of the pattern; no engine supports look-around.
    if _UNSUPPORTED_GROUP.search(pattern):
        return pattern
    tokens = deque(_PART_TOKEN.finditer(pattern))
    try:
        part = _parse_alternatives(tokens)
    except (IndexError, RecursionError):
        # The unchanged pattern is never wrong, merely slower to scan for.
        return pattern
    # Tokens remain if parentheses are unbalanced, which `find_pattern_problem` reports.
    return pattern if tokens else part.text


def _parse_alternatives(tokens: _TokenQueue) -> _PatternPart:
    """Parse alternatives up to the closing parenthesis."""
    alternatives = [_parse_sequence(tokens)]
    while tokens and tokens[0]["bar"]:
        tokens.popleft()
        alternatives.append(_parse_sequence(tokens))
    texts, letters, ends = zip(*alternatives, strict=True)
    return _PatternPart("|".join(texts), min(letters), any(ends))


def _parse_sequence(tokens: _TokenQueue) -> _PatternPart:
    part, letters = _PatternPart(), 0
    while tokens and not (tokens[0]["bar"] or tokens[0]["close"]):
        token = tokens.popleft()
        if token["wide"]:
            rest = _parse_sequence(tokens)
            is_end = rest.is_end or part.letters < _MIN_LITERAL_LENGTH <= rest.letters
            return (
                rest._replace(is_end=True) if is_end else _join_parts(_join_parts(part, _PatternPart(token[0])), rest)
            )
        if token["open"]:
            part, letters = _join_parts(part, _parse_group(token, tokens)), 0
            continue
        letters = letters + 1 if token["letter"] and not _is_repeated(tokens) else 0
        part = _join_parts(part, _PatternPart(token[0], letters))
    return part


def _parse_group(opening: re.Match[str], tokens: _TokenQueue) -> _PatternPart:
    """Parse a group; keep it whole if it is repeated, or if one of its alternatives is not selective."""
    inner, closed = _parse_alternatives(tokens), tokens.popleft()
    if _is_repeated(tokens) or (inner.is_end and inner.letters < _MIN_LITERAL_LENGTH):
        letters = 0 if _is_repeated(tokens) else inner.letters
        return _PatternPart(opening.string[opening.start() : closed.end()], letters)
    return _PatternPart(f"{opening[0]}{inner.text})", inner.letters, inner.is_end)


def _join_parts(part: _PatternPart, next_part: _PatternPart) -> _PatternPart:
    if next_part.is_end:
        return next_part
    return _PatternPart(part.text + next_part.text, max(part.letters, next_part.letters), part.is_end)


def _is_repeated(tokens: _TokenQueue) -> bool:
    return bool(tokens and tokens[0]["times"])
