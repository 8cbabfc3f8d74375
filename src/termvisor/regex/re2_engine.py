"""Match with RE2, used if Hyperscan is not installed, or for patterns that are too large for Hyperscan."""

from collections.abc import Mapping

import re2

from termvisor.regex import dialect
from termvisor.regex.engine import PatternMatcher, ensure_utf8

# A limit, not a reservation. Beyond it RE2 returns "no match", which would leave a secret unredacted.
_MAX_MEMORY_BYTES = 256 << 20


class Re2Matcher(PatternMatcher):
    """`PatternMatcher` that uses RE2. Raises ValueError for unsupported patterns."""

    name = "re2"

    def __init__(self, patterns: Mapping[str, str]):
        self._ids = tuple(patterns)
        self._set = _compile_set(list(patterns.values()))

    def find_ids(self, data: bytes) -> frozenset[str]:
        return frozenset([self._ids[hit] for hit in self._set.Match(ensure_utf8(data)) or ()])


def _compile_set(patterns: list[str]) -> re2.Set:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MAX_MEMORY_BYTES
    compiled = re2.Set.SearchSet(options)
    try:
        for pattern in patterns:
            compiled.Add("(?m)" + dialect.expand_space_classes(dialect.to_common_dialect(pattern)))
        compiled.Compile()
    except re2.error as error:
        raise ValueError(str(error)) from error
    return compiled
