"""The part of a pattern that is worth looking for: of ``^\\w+: .*No space``, which begins like most lines, the end.

Behind a repeat that takes anything an engine looks out to the end of every line on which the first part fits. Whatever
the pattern matches has a match of the telling part in it.
"""

import re
from collections import deque
from typing import NamedTuple

_MIN_LITERAL_LENGTH = 4
"""So many letters in a row are rare enough."""
_UNSUPPORTED_GROUP = re.compile(r"\(\?(?!:|P<)")
_TOKEN = re.compile(
    r"(?P<open>\((?:\?:|\?P<\w+>)?)|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<wide>(?:\.|\[\^\\n\])(?:[*+]|\{\d*,\})[?+]?)|(?P<times>(?:[*+?]|\{\d*,?\d*\})[?+]?)"
    r"|\\u[0-9a-fA-F]{4}|\\[A-Za-z0-9]|\[\^?\]?(?:\\.|[^\]\\])*\]|[.^$]|(?P<letter>\\?.)",
    re.DOTALL,
)
_TokenQueue = deque[re.Match[str]]


class _PatternPart(NamedTuple):
    """``letters``: so many in a row stand in whatever it matches; ``is_end``: what comes before it was given up."""

    text: str = ""
    letters: int = 0
    is_end: bool = False


def find_selective_part(pattern: str) -> str:
    if _UNSUPPORTED_GROUP.search(pattern):  # a flag holds for what comes behind it, and look-around is for no engine
        return pattern
    tokens = deque(_TOKEN.finditer(pattern))
    try:
        part = _parse_alternatives(tokens)
    except (IndexError, RecursionError):
        return pattern
    return pattern if tokens else part.text  # brackets that do not match are refused elsewhere


def _parse_alternatives(tokens: _TokenQueue) -> _PatternPart:
    """Alternatives, up to the bracket that closes them."""
    found = [_parse_sequence(tokens)]
    while tokens and tokens[0]["bar"]:
        tokens.popleft()
        found.append(_parse_sequence(tokens))
    texts, letters, ends = zip(*found, strict=True)
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
    """As it is where it may come more than once or not at all, or where one of its alternatives says little."""
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
