"""Translate Python regular expressions to the dialects of the engines, and reject those that no engine can compile.

Some syntax differs in meaning between PCRE, RE2 and Python; it is replaced with a form that means the same in all.
"""

import re
import warnings

_TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\{,\d+\}", re.DOTALL)
_COMMON_TOKENS = {"\\A": "^", "\\Z": "$", "\\v": "\\x0b"}
_SPACE_TOKENS = {"\\s": "[\\t-\\r ]", "\\S": "[^\\t-\\r ]"}
_SPACE_TOKENS_IN_CLASS = {"\\s": "\\t-\\r ", "\\S": "\\x00-\\x08\\x0e-\\x1f!-\\x{10FFFF}"}
MAX_EXPANDED_SIZE = 2000
"""Hyperscan compiles a pattern of this size within one or two seconds; RE2 takes a little longer."""
_SIZED_TOKEN = re.compile(
    r"(?P<open>\((?:\?(?:P?<\w*>|[a-zA-Z-]*:)?)?)|(?P<close>\))|\{(?P<least>\d*)(?P<range>,(?P<most>\d*))?\}"
    r"|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<sign>[*+?|^$])|.",
    re.DOTALL,
)


def find_pattern_problem(pattern: str) -> str | None:
    """Return why a pattern cannot be compiled by Python or by any engine; None if it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(pattern, re.MULTILINE | re.ASCII)
    except (re.error, ValueError, OverflowError, RecursionError, Warning) as error:
        # Warnings count as well: they announce syntax that a later Python will read differently.
        return str(error)
    if compiled.search(""):
        return "it matches the empty text"
    # Rejected before compiling, because the time and memory that an engine needs grow with the expanded size.
    if (size := compute_expanded_size(pattern)) > MAX_EXPANDED_SIZE:
        return f"with its repeats expanded it has {size} parts; the limit is {MAX_EXPANDED_SIZE}"
    return None


def to_common_dialect(pattern: str) -> str:
    """Translate a pattern for all engines: no group names, no anchors of the whole text, ``{,n}`` as ``{0,n}``."""
    return _TOKEN.sub(lambda token: _translate_token(token[0]), pattern)


def expand_space_classes(pattern: str) -> str:
    """Translate a pattern for RE2, whose ``\\s`` does not include the vertical tab."""
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


def compute_expanded_size(pattern: str) -> int:
    """Return the number of characters and classes, each multiplied by its counted repeats."""
    sums, last = [0], 0
    for token in _SIZED_TOKEN.finditer(pattern):
        if token["open"]:
            sums[-1] += last
            sums.append(0)
            last = 0
        elif token["close"] and len(sums) > 1:
            last = sums.pop() + last
        elif token["least"] or token["most"]:
            last *= _count_repeats(token)
        elif not token["sign"]:
            sums[-1] += last
            last = 1
    return sum(sums) + last


def _count_repeats(token: re.Match[str]) -> int:
    """Return the larger count, plus one if the range is open. Counts are cut to nine digits, far above the limit."""
    counts = [int(digits[:9]) for digits in (token["least"], token["most"]) if digits]
    return max(counts) + (token["range"] is not None and not token["most"])
