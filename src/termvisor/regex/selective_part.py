"""The part of a pattern that is worth looking for: of ``^\\w+: .*No space``, which begins like most lines, the end.

Behind a repeat that takes anything an engine looks out to the end of every line on which the first part fits. Whatever
the pattern matches has a match of the telling part in it.
"""

import re
from collections import deque
from typing import NamedTuple

_ENOUGH = 4
"""So many letters in a row are rare enough."""
_FOREIGN = re.compile(r"\(\?(?!:|P<)")
_TOKEN = re.compile(
    r"(?P<open>\((?:\?:|\?P<\w+>)?)|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<wide>(?:\.|\[\^\\n\])(?:[*+]|\{\d*,\})[?+]?)|(?P<times>(?:[*+?]|\{\d*,?\d*\})[?+]?)"
    r"|\\u[0-9a-fA-F]{4}|\\[A-Za-z0-9]|\[\^?\]?(?:\\.|[^\]\\])*\]|[.^$]|(?P<letter>\\?.)",
    re.DOTALL,
)
_Tokens = deque[re.Match[str]]


class _Part(NamedTuple):
    """``letters``: so many in a row stand in whatever it matches; ``is_end``: what comes before it was given up."""

    text: str = ""
    letters: int = 0
    is_end: bool = False


def telling_part(pattern: str) -> str:
    if _FOREIGN.search(pattern):  # a flag holds for what comes behind it, and look-around is for no engine
        return pattern
    tokens = deque(_TOKEN.finditer(pattern))
    try:
        part = _choice(tokens)
    except (IndexError, RecursionError):
        return pattern
    return pattern if tokens else part.text  # brackets that do not match are refused elsewhere


def _choice(tokens: _Tokens) -> _Part:
    """Alternatives, up to the bracket that closes them."""
    found = [_row(tokens)]
    while tokens and tokens[0]["bar"]:
        tokens.popleft()
        found.append(_row(tokens))
    texts, letters, ends = zip(*found, strict=True)
    return _Part("|".join(texts), min(letters), any(ends))


def _row(tokens: _Tokens) -> _Part:
    part, letters = _Part(), 0
    while tokens and not (tokens[0]["bar"] or tokens[0]["close"]):
        token = tokens.popleft()
        if token["wide"]:
            rest = _row(tokens)
            is_end = rest.is_end or part.letters < _ENOUGH <= rest.letters
            return rest._replace(is_end=True) if is_end else _joined(_joined(part, _Part(token[0])), rest)
        if token["open"]:
            part, letters = _joined(part, _group(token, tokens)), 0
            continue
        letters = letters + 1 if token["letter"] and not _is_repeated(tokens) else 0
        part = _joined(part, _Part(token[0], letters))
    return part


def _group(opened: re.Match[str], tokens: _Tokens) -> _Part:
    """As it is where it may come more than once or not at all, or where one of its alternatives says little."""
    inner, closed = _choice(tokens), tokens.popleft()
    if _is_repeated(tokens) or (inner.is_end and inner.letters < _ENOUGH):
        letters = 0 if _is_repeated(tokens) else inner.letters
        return _Part(opened.string[opened.start() : closed.end()], letters)
    return _Part(f"{opened[0]}{inner.text})", inner.letters, inner.is_end)


def _joined(part: _Part, next_part: _Part) -> _Part:
    if next_part.is_end:
        return next_part
    return _Part(part.text + next_part.text, max(part.letters, next_part.letters), part.is_end)


def _is_repeated(tokens: _Tokens) -> bool:
    return bool(tokens and tokens[0]["times"])
