"""The active kinds of secrets (`RedactionRules`), and the multi-pattern engine that finds the lines to check.

The engine is loaded, and its patterns are compiled, when the first text is redacted.
"""

import re
import threading
from collections.abc import Container, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import ConfigError
from termvisor.redaction.context_patterns import CONTEXT_KINDS
from termvisor.redaction.nonce_pieces import build_piece_pattern, list_blocks
from termvisor.redaction.provider_prefixes import PROVIDER_KINDS, SHELL_NONCE
from termvisor.redaction.secret_kind import INVISIBLE_CLASS, NOT_AFTER_ALNUM, ROW_START_CLASS, SecretKind
from termvisor.redaction.value_checks import is_always_secret
from termvisor.regex import PatternMatcher, compile_patterns, is_cached

BUILTIN_KINDS: tuple[SecretKind, ...] = PROVIDER_KINDS + CONTEXT_KINDS
CUT_PREFIX = "headless"
"""Not a kind, but a row that starts with the rest of a provider's prefix and a long run."""
INVISIBLE = "invisible"
"""Not a kind, but a row with characters that have no width and may hide a secret."""
_CUSTOM_PREFIX = "custom_"
_RESTS_PER_PATTERN = 200
# The union of the characters of all kinds.
_RUN_CHARACTERS = "A-Za-z0-9_.%+/=-"


class SecretPrefix(Struct, frozen=True):
    """One prefix of a kind, identified by its index in ``kind.prefixes``."""

    kind: SecretKind
    number: int
    text: str


class RedactionRules:
    """Immutable set of redaction rules, safe to share between threads."""

    def __init__(
        self,
        kinds: Sequence[SecretKind],
        cache: str | None = None,
        shared_rules: "RedactionRules | None" = None,
        nonce: str = "",
    ):
        self._cache = cache
        self._shared_rules = shared_rules
        self.kinds = {kind.id: kind for kind in kinds}
        self.nonce = nonce if SHELL_NONCE in self.kinds else ""
        """Searched separately, because the engine's patterns are cached on disk and must not contain it."""
        self._nonce_blocks = list_blocks(self.nonce)
        self.prefixes = tuple(
            SecretPrefix(kind, number, text) for kind in kinds for number, text in enumerate(kind.prefixes)
        )
        self.partial_prefixes = {
            prefix.text[:end]: prefix for prefix in self.prefixes for end in range(1, len(prefix.text))
        }
        self.max_partial_length = max(map(len, self.partial_prefixes), default=0)
        self._matcher: PatternMatcher | None = None
        self._lock = threading.Lock()

    @property
    def matcher(self) -> PatternMatcher:
        if self._shared_rules is not None:
            return self._shared_rules.matcher
        if self._matcher is None:
            # Two threads may redact their first text at the same time, but the patterns must be compiled only once.
            with self._lock:
                self._matcher = self._matcher or self._compile()
        return self._matcher

    def scan(self, text: str) -> frozenset[str]:
        found = frozenset(map(_get_scan_id, self.matcher.find_ids(text.encode(errors="replace"))))
        return found | {SHELL_NONCE} if self._has_nonce(text) else found

    def scan_lines(self, text: str) -> list[tuple[int, str]]:
        data = text.encode(errors="replace")
        found = [(number, _get_scan_id(name)) for number, name in self.matcher.find_line_ids(data)]
        if self._has_nonce(text):
            rows = enumerate(text.split("\n"))
            found = [*found, *((number, SHELL_NONCE) for number, row in rows if self._has_nonce(row))]
        return found

    def _has_nonce(self, text: str) -> bool:
        return any(block in text for block in self._nonce_blocks)

    def restrict_to(self, kind_ids: Container[str]) -> "RedactionRules":
        """Return rules limited to these kinds. They share this engine, so nothing is compiled again."""
        return RedactionRules(
            [kind for kind in self.kinds.values() if kind.id in kind_ids], shared_rules=self, nonce=self.nonce
        )

    @property
    def is_compiled(self) -> bool:
        """Return True if the patterns are compiled, in memory or in the disk cache."""
        return self._matcher is not None or (self._cache is not None and is_cached(self.patterns, self._cache))

    @property
    def custom_patterns(self) -> dict[str, str]:
        """The patterns from the setting `redact_patterns`."""
        return {name: pattern for name, pattern in self.patterns.items() if name.startswith(_CUSTOM_PREFIX)}

    def _compile(self) -> PatternMatcher:
        # Custom patterns go to Hyperscan only after a trial in a child process, which cached ones have passed.
        is_tried = self.is_compiled or not (self.custom_patterns and self._cache)
        return compile_patterns(self.patterns, "auto" if is_tried else "re2", cache_folder=self._cache)

    @property
    def patterns(self) -> dict[str, str]:
        """The engine's patterns by id."""
        patterns = {kind.id: kind.build_engine_pattern() for kind in self.kinds.values()} | {INVISIBLE: INVISIBLE_CLASS}
        return patterns | _build_cut_prefix_patterns(tuple(prefix.text for prefix in self.prefixes))


@lru_cache(maxsize=2)
def _build_cut_prefix_patterns(prefixes: tuple[str, ...]) -> dict[str, str]:
    """Match the rest of any prefix and the run after it; cached because every start builds it several times.

    There are several patterns, because one for all rests is too large for the engine.
    """
    # A rest of a single character is handled on the row before.
    rests = sorted({prefix[at:] for prefix in prefixes for at in range(1, max(len(prefix) - 1, 2))})
    by_run: dict[str, list[str]] = {}
    for rest in rests:
        by_run.setdefault(build_run_pattern(rest), []).append(rest)
    parts = [
        f"^{ROW_START_CLASS}*{_build_trie_pattern(set(some[at : at + _RESTS_PER_PATTERN]))}{run}"
        for run, some in by_run.items()
        for at in range(0, len(some), _RESTS_PER_PATTERN)
    ]
    return {f"{CUT_PREFIX}_{number}": pattern for number, pattern in enumerate(parts)}


def _get_scan_id(name: str) -> str:
    """Return the id that a scan reports for an engine's pattern."""
    return CUT_PREFIX if name.startswith(CUT_PREFIX) else name


def build_run_pattern(rest: str) -> str:
    """Return a pattern for the run after the rest of a cut prefix, shorter for a longer rest. Fits in 20 columns."""
    least = 15 if len(rest) < 4 else 11 if len(rest) < 8 else 4
    return f"[A-Za-z0-9][{_RUN_CHARACTERS}]{{{least}}}"


def build_rules(
    extra: Sequence[str] = (), allow: Sequence[str] = (), *, cache: str | None = None, nonce: str = ""
) -> RedactionRules:
    """Build rules from the built-in kinds except ``allow``, and ``extra`` patterns named ``custom_1``, ``custom_2``, …

    ``cache`` is a private folder for compiled patterns; ``nonce`` is that of the user's shells.
    Raises ConfigError for an unknown kind in ``allow``.
    """
    known = [kind.id for kind in BUILTIN_KINDS]
    unknown = [name for name in allow if name not in known]
    if unknown:
        raise ConfigError(
            f"redact_allow: unknown kind of secret {', '.join(unknown)}; known kinds: {', '.join(known)}",
            details={"unknown": unknown, "kinds": known},
        )
    builtin = (_add_nonce(kind, nonce) for kind in BUILTIN_KINDS if kind.id not in allow)
    rules = RedactionRules([*builtin, *_build_custom_kinds(extra)], cache, nonce=nonce)
    # Cached patterns were validated before.
    if extra and not rules.is_compiled:
        compile_patterns({kind.id: kind.probe for kind in rules.kinds.values() if kind.id.startswith(_CUSTOM_PREFIX)})
    return rules


def _add_nonce(kind: SecretKind, nonce: str) -> SecretKind:
    """Extend the nonce kind to match the user's own nonce, and pieces of it, without any context."""
    if kind.id != SHELL_NONCE or not nonce:
        return kind
    own = build_piece_pattern(nonce)
    pattern = rf"(?:{NOT_AFTER_ALNUM}nonce=|(?={own}))(?P<secret>{own}|[0-9a-f]{{32}}(?![A-Za-z0-9]))"
    return replace(kind, pattern=pattern)


def _build_custom_kinds(patterns: Sequence[str]) -> list[SecretKind]:
    return [
        SecretKind(
            id=f"{_CUSTOM_PREFIX}{number}",
            doc="A pattern from the setting redact_patterns",
            pattern=pattern,
            probe=pattern,
            value_check=is_always_secret,
        )
        for number, pattern in enumerate(patterns, 1)
    ]


def _build_trie_pattern(texts: set[str]) -> str:
    """Build a trie-shaped pattern for many literals, which compiles to far less than a plain alternation."""
    heads = sorted({text[0] for text in texts if text})
    branches = [
        re.escape(head) + _build_trie_pattern({text[1:] for text in texts if text[:1] == head}) for head in heads
    ]
    both = "(?:" + "|".join(branches) + ")" if branches else ""
    return both + "?" if branches and "" in texts else both


class SecretKindRow(Struct, frozen=True):
    """Description of one kind, for the documentation."""

    name: str
    doc: str
    prefixes: tuple[str, ...]
    wrapped: bool


def list_kinds() -> list[SecretKindRow]:
    return [
        SecretKindRow(kind.id, kind.doc, kind.prefixes, bool(kind.charset) or kind.id == "private_key")
        for kind in BUILTIN_KINDS
    ]
