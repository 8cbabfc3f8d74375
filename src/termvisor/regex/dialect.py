"""Python's regular expressions as the engines read them.

In a few corners the same spelling means different things to PCRE, RE2 and Python; each gets a form that all read alike.
"""

import re
import warnings

from termvisor.regex.expanded_size import MAX_EXPANDED_SIZE, compute_expanded_size

_TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\{,\d+\}", re.DOTALL)
_COMMON_TOKENS = {"\\A": "^", "\\Z": "$", "\\v": "\\x0b"}
_SPACE_TOKENS = {"\\s": "[\\t-\\r ]", "\\S": "[^\\t-\\r ]"}
_SPACE_TOKENS_IN_CLASS = {"\\s": "\\t-\\r ", "\\S": "\\x00-\\x08\\x0e-\\x1f!-\\x{10FFFF}"}


def find_pattern_problem(pattern: str) -> str | None:
    """Why Python itself, or no engine, can take this pattern; None when it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(pattern, re.MULTILINE | re.ASCII)
    except (re.error, ValueError, OverflowError, RecursionError, Warning) as error:
        return str(error)
    if compiled.search(""):
        return "it matches the empty text"
    if (size := compute_expanded_size(pattern)) > MAX_EXPANDED_SIZE:
        return f"with its repeats written out it has {size} parts; at most {MAX_EXPANDED_SIZE} can be compiled"
    return None


def to_common_dialect(pattern: str) -> str:
    """For every engine: no group names, no anchors of the whole text, ``{,n}`` spelled out."""
    return _TOKEN.sub(lambda token: _translate_token(token[0]), pattern)


def expand_space_classes(pattern: str) -> str:
    """For RE2, whose ``\\s`` lacks the vertical tab that the others count as a space."""
    return _TOKEN.sub(lambda token: _expand_space_token(token[0]), pattern)


def _translate_token(token: str) -> str:
    if token.startswith("(?P<"):
        return "("
    if token.startswith("{,"):
        return "{0" + token[1:]
    if token.startswith("["):
        return re.sub(r"\\u[0-9a-fA-F]{4}|\\.", lambda part: _translate_token(part[0]), token, flags=re.DOTALL)
    if token.startswith("\\u") and len(token) == 6:
        return f"\\x{{{token[2:]}}}"
    return _COMMON_TOKENS.get(token, token)


def _expand_space_token(token: str) -> str:
    if token.startswith("["):
        return re.sub(r"\\.", lambda part: _SPACE_TOKENS_IN_CLASS.get(part[0], part[0]), token, flags=re.DOTALL)
    return _SPACE_TOKENS.get(token, token)
