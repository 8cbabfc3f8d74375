"""Simplify a pattern for the engines: the result matches wherever the original does, and is cheaper to scan for.

``re`` verifies every match, so an engine need not count repeats. Long counted repeats are too large for Hyperscan, and
some have crashed it.
"""

import re

from termvisor.regex.selective_part import find_selective_part

_MAX_KEPT_REPEAT = 8
"""Repeats up to this count are kept."""
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>\d*)(?P<range>,(?P<most>\d*))?\}", re.DOTALL)
_LINE_START = re.compile(r"^\^\\s(?:\*|\{\d+,\d*\})(?![?+])")
_LINE_END = re.compile(r"(?<!\\)(?:\\s\*)?\$$")
"""Anchors with optional space are dropped as well: the text between them is selective enough."""


def relax_pattern(pattern: str) -> str:
    """Return a cheaper pattern that matches every text that the original matches."""
    return find_selective_part(_TOKEN.sub(_relax_repeat, _LINE_START.sub("", _LINE_END.sub("", pattern))))


def _relax_repeat(token: re.Match[str]) -> str:
    least, most = token["least"], token["most"] if token["range"] else token["least"]
    is_count = bool(token["range"] or least)
    if not is_count or (most and int(most) <= _MAX_KEPT_REPEAT):
        return token[0]
    return "+" if int(least or 0) else "*"
