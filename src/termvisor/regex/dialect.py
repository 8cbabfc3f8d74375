"""Translate Python regular expressions to the dialects of the engines.

Some spellings mean different things in PCRE, RE2 and Python; they are replaced by a form that means the same in all.
"""

import re
import warnings

from termvisor.regex.expanded_size import MAX_EXPANDED_SIZE, compute_expanded_size

_TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\{,\d+\}", re.DOTALL)
_COMMON_TOKENS = {"\\A": "^", "\\Z": "$", "\\v": "\\x0b"}
_SPACE_TOKENS = {"\\s": "[\\t-\\r ]", "\\S": "[^\\t-\\r ]"}
_SPACE_TOKENS_IN_CLASS = {"\\s": "\\t-\\r ", "\\S": "\\x00-\\x08\\x0e-\\x1f!-\\x{10FFFF}"}


def find_pattern_problem(pattern: str) -> str | None:
    """Return why a pattern cannot be compiled by Python or by any engine; None if it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(pattern, re.MULTILINE | re.ASCII)
    except (re.error, ValueError, OverflowError, RecursionError, Warning) as error:
        return str(error)
    if compiled.search(""):
        return "it matches the empty text"
    # Refused before compiling: the time and memory of an engine grow with the expanded size.
    if (size := compute_expanded_size(pattern)) > MAX_EXPANDED_SIZE:
        return f"with its repeats expanded it has {size} parts; the limit is {MAX_EXPANDED_SIZE}"
    return None


def to_common_dialect(pattern: str) -> str:
    """Translate for all engines: no group names, no anchors of the whole text, ``{,n}`` as ``{0,n}``."""
    return _TOKEN.sub(lambda token: _translate_token(token[0]), pattern)


def expand_space_classes(pattern: str) -> str:
    """Translate for RE2, whose ``\\s`` does not include the vertical tab."""
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
