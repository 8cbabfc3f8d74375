"""A pattern as the engines scan for it: it matches wherever the rule's own does, and is cheaper.

``re`` has the last word, so an engine need not count. Hyperscan finds long counted repeats too large, and has crashed
on some.
"""

import re

from termvisor.regex.selective_part import find_selective_part

_MAX_KEPT_REPEAT = 8
"""Repeats up to so many are left as they are."""
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>\d*)(?P<range>,(?P<most>\d*))?\}", re.DOTALL)
_LINE_START = re.compile(r"^\^\\s(?:\*|\{\d+,\d*\})(?![?+])")
_LINE_END = re.compile(r"(?<!\\)(?:\\s\*)?\$$")
"""Nor where a line begins, if space may come before, or ends: the text in between is rare enough."""


def relax_pattern(pattern: str) -> str:
    return find_selective_part(_TOKEN.sub(_relax_repeat, _LINE_START.sub("", _LINE_END.sub("", pattern))))


def _relax_repeat(token: re.Match[str]) -> str:
    least, most = token["least"], token["most"] if token["range"] else token["least"]
    is_count = bool(token["range"] or least)
    if not is_count or (most and int(most) <= _MAX_KEPT_REPEAT):
        return token[0]
    return "+" if int(least or 0) else "*"
