"""Which kinds are looked for, and the engine that finds the few lines worth a closer look.

The engine is loaded and its patterns are compiled when the first text is redacted.
"""

import threading
from collections.abc import Sequence

from msgspec import Struct

from termvisor.errors import ConfigError
from termvisor.match import Matcher, compile_patterns
from termvisor.redact.forms import FORMS
from termvisor.redact.kind import TAIL_CLASS, Kind
from termvisor.redact.providers import PROVIDERS
from termvisor.redact.values import is_anything

BUILTIN: tuple[Kind, ...] = PROVIDERS + FORMS
CUT_PREFIX = "cut_prefix"
"""Not a kind: the row ends in the first characters of some provider's prefix."""


class Prefix(Struct, frozen=True):
    """One prefix of a kind, by its number in the kind's table."""

    kind: Kind
    number: int
    text: str


class Rules:
    """Immutable, and safe to share between threads."""

    def __init__(self, kinds: Sequence[Kind]):
        self.kinds = {kind.id: kind for kind in kinds}
        self.prefixes = tuple(Prefix(kind, number, text) for kind in kinds for number, text in enumerate(kind.prefixes))
        self._matcher: Matcher | None = None
        self._lock = threading.Lock()

    @property
    def matcher(self) -> Matcher:
        if self._matcher is None:
            with self._lock:
                self._matcher = self._matcher or self._compile()
        return self._matcher

    def scan(self, text: str) -> frozenset[str]:
        return self.matcher.ids(text.encode(errors="replace"))

    def scan_lines(self, text: str) -> list[tuple[int, str]]:
        return self.matcher.lines(text.encode(errors="replace"))

    def _compile(self) -> Matcher:
        patterns = {kind.id: kind.engine_pattern() for kind in self.kinds.values()}
        if self.prefixes:
            starts = _any_start([prefix.text for prefix in self.prefixes])
            patterns[CUT_PREFIX] = f"(?:^|[^A-Za-z0-9]){starts}{TAIL_CLASS}*$"
        return compile_patterns(patterns)


def build(extra: Sequence[str] = (), allow: Sequence[str] = ()) -> Rules:
    """The built-in kinds without the allowed ones, and the user's own patterns as ``custom_1``, ``custom_2``, …"""
    known = [kind.id for kind in BUILTIN]
    unknown = [name for name in allow if name not in known]
    if unknown:
        raise ConfigError(
            f"redact_allow: there is no kind of secret named {', '.join(unknown)}; the kinds are {', '.join(known)}",
            details={"unknown": unknown, "kinds": known},
        )
    rules = Rules([*(kind for kind in BUILTIN if kind.id not in allow), *_custom(extra)])
    if extra:
        compile_patterns({kind.id: kind.probe for kind in rules.kinds.values() if kind.id.startswith("custom_")})
    return rules


def _custom(patterns: Sequence[str]) -> list[Kind]:
    return [
        Kind(
            id=f"custom_{number}",
            doc="A pattern of the user's",
            pattern=pattern,
            probe=pattern,
            judge=is_anything,
        )
        for number, pattern in enumerate(patterns, 1)
    ]


def _any_start(texts: list[str]) -> str:
    """A pattern for every proper, non-empty start of these texts."""
    return _branches(sorted({text[:end] for text in texts for end in range(1, len(text))}), 0)


def _branches(starts: list[str], depth: int) -> str:
    heads = sorted({start[depth] for start in starts if len(start) > depth})
    branches = []
    for head in heads:
        below = [start for start in starts if len(start) > depth and start[depth] == head]
        longer = [start for start in below if len(start) > depth + 1]
        branches.append(_escape(head) + (f"{_branches(longer, depth + 1)}?" if longer else ""))
    return "(?:" + "|".join(branches) + ")"


def _escape(char: str) -> str:
    return char if char.isalnum() else "\\" + char


class Row(Struct, frozen=True):
    """One kind as the docs show it."""

    name: str
    doc: str
    prefixes: tuple[str, ...]
    wrapped: bool


def kinds() -> list[Row]:
    return [Row(kind.id, kind.doc, kind.prefixes, bool(kind.charset) or kind.id == "private_key") for kind in BUILTIN]
