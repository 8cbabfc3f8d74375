"""RE2: where the hyperscan wheel is missing, or for a pattern that Hyperscan finds too large."""

from collections.abc import Mapping

import re2

from termvisor.regex import dialect
from termvisor.regex.engine import as_utf8, by_line

_MEMORY = 256 << 20
"""A bound, not a reservation: past it RE2 answers "no match", which for a secret would be a leak."""


class Re2Matcher:
    """Raises ValueError for patterns it does not take."""

    name = "re2"

    def __init__(self, patterns: Mapping[str, str]):
        self._ids = tuple(patterns)
        self._set = _compile(list(patterns.values()))

    def ids(self, data: bytes) -> frozenset[str]:
        return frozenset([self._ids[hit] for hit in self._set.Match(as_utf8(data)) or ()])

    def lines(self, data: bytes) -> list[tuple[int, str]]:
        return by_line(self.ids, data)


def _compile(patterns: list[str]) -> re2.Set:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MEMORY
    compiled = re2.Set.SearchSet(options)
    try:
        for pattern in patterns:
            compiled.Add("(?m)" + dialect.explicit_spaces(dialect.common(pattern)))
        compiled.Compile()
    except re2.error as error:
        raise ValueError(str(error)) from error
    return compiled
