"""How large a pattern is with its counted repeats written out. What compiling it costs grows with that."""

import re

MAX_EXPANDED_SIZE = 2000
"""Hyperscan compiles this within a second or two, and RE2 takes little more."""

_TOKEN = re.compile(
    r"(?P<open>\((?:\?(?:P?<\w*>|[a-zA-Z-]*:)?)?)|(?P<close>\))|\{(?P<least>\d*)(?P<range>,(?P<most>\d*))?\}"
    r"|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<sign>[*+?|^$])|.",
    re.DOTALL,
)


def compute_expanded_size(pattern: str) -> int:
    """How many characters and classes it has, each as often as it may be repeated by count."""
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
    """An open end costs one more; absurd counts are cut, they are too many anyway."""
    counts = [int(digits[:9]) for digits in (token["least"], token["most"]) if digits]
    return max(counts) + (token["range"] is not None and not token["most"])
