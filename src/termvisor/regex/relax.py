"""A pattern as the engines scan for it: it matches wherever the rule's own does, and is cheaper.

``re`` has the last word, so an engine need not count. Hyperscan finds long counted repeats too large, and has crashed
on some.
"""

import re

from termvisor.regex.selective_part import telling_part

_COUNTED = 8
"""Repeats up to so many are left as they are."""
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>\d*)(?P<range>,(?P<most>\d*))?\}", re.DOTALL)
_START = re.compile(r"^\^\\s(?:\*|\{\d+,\d*\})(?![?+])")
_END = re.compile(r"(?<!\\)(?:\\s\*)?\$$")
"""Nor where a line begins, if space may come before, or ends: the text in between is rare enough."""


def loosened(pattern: str) -> str:
    return telling_part(_TOKEN.sub(_loose, _START.sub("", _END.sub("", pattern))))


def _loose(token: re.Match[str]) -> str:
    least, most = token["least"], token["most"] if token["range"] else token["least"]
    is_count = bool(token["range"] or least)
    if not is_count or (most and int(most) <= _COUNTED):
        return token[0]
    return "+" if int(least or 0) else "*"
