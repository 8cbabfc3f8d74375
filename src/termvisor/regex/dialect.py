"""Python's regular expressions as the engines read them.

In a few corners the same spelling means different things to PCRE, RE2 and Python; each gets a form that all read alike.
"""

import re
import warnings

from termvisor.regex.expanded_size import MOST, weight

_TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\{,\d+\}", re.DOTALL)
_SAME = {"\\A": "^", "\\Z": "$", "\\v": "\\x0b"}
_SPACES = {"\\s": "[\\t-\\r ]", "\\S": "[^\\t-\\r ]"}
_SPACES_IN_CLASS = {"\\s": "\\t-\\r ", "\\S": "\\x00-\\x08\\x0e-\\x1f!-\\x{10FFFF}"}


def check(pattern: str) -> str | None:
    """Why Python itself, or no engine, can take this pattern; None when it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(pattern, re.MULTILINE | re.ASCII)
    except (re.error, ValueError, OverflowError, RecursionError, Warning) as error:
        return str(error)
    if compiled.search(""):
        return "it matches the empty text"
    if (size := weight(pattern)) > MOST:
        return f"with its repeats written out it has {size} parts; at most {MOST} can be compiled"
    return None


def common(pattern: str) -> str:
    """For every engine: no group names, no anchors of the whole text, ``{,n}`` spelled out."""
    return _TOKEN.sub(lambda token: _common(token[0]), pattern)


def explicit_spaces(pattern: str) -> str:
    """For RE2, whose ``\\s`` lacks the vertical tab that the others count as a space."""
    return _TOKEN.sub(lambda token: _explicit(token[0]), pattern)


def _common(token: str) -> str:
    if token.startswith("(?P<"):
        return "("
    if token.startswith("{,"):
        return "{0" + token[1:]
    if token.startswith("["):
        return re.sub(r"\\u[0-9a-fA-F]{4}|\\.", lambda part: _common(part[0]), token, flags=re.DOTALL)
    if token.startswith("\\u") and len(token) == 6:
        return f"\\x{{{token[2:]}}}"
    return _SAME.get(token, token)


def _explicit(token: str) -> str:
    if token.startswith("["):
        return re.sub(r"\\.", lambda part: _SPACES_IN_CLASS.get(part[0], part[0]), token, flags=re.DOTALL)
    return _SPACES.get(token, token)
