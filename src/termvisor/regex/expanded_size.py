"""Compute the size of a pattern with its counted repeats expanded, which determines the cost of compiling it."""

import re

MAX_EXPANDED_SIZE = 2000
"""Hyperscan compiles a pattern of this size within one or two seconds, RE2 in little more."""

_TOKEN = re.compile(
    r"(?P<open>\((?:\?(?:P?<\w*>|[a-zA-Z-]*:)?)?)|(?P<close>\))|\{(?P<least>\d*)(?P<range>,(?P<most>\d*))?\}"
    r"|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<sign>[*+?|^$])|.",
    re.DOTALL,
)


def compute_expanded_size(pattern: str) -> int:
    """Return the number of characters and classes, each multiplied by its counted repeats."""
    sums, last = [0], 0
    for token in _TOKEN.finditer(pattern):
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
    """Return the larger count, plus one for an open range. Counts are cut to nine digits, far above the limit."""
    counts = [int(digits[:9]) for digits in (token["least"], token["most"]) if digits]
    return max(counts) + (token["range"] is not None and not token["most"])
