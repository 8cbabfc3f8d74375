"""Which kinds are looked for, and the engine that finds the few lines worth a closer look.

The engine is loaded and its patterns are compiled when the first text is redacted.
"""

import re
import threading
from collections.abc import Container, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import ConfigError
from termvisor.redaction.context_patterns import CONTEXT_KINDS
from termvisor.redaction.provider_prefixes import PROVIDER_KINDS, SHELL_NONCE
from termvisor.redaction.secret_kind import NOT_AFTER_ALNUM, ROW_START_CLASS, SecretKind
from termvisor.redaction.value_checks import is_always_secret
from termvisor.regex import PatternMatcher, compile_patterns, is_cached

BUILTIN_KINDS: tuple[SecretKind, ...] = PROVIDER_KINDS + CONTEXT_KINDS
CUT_PREFIX = "headless"
"""Not a kind: the row begins with the rest of some provider's prefix and a long run."""
_CUSTOM_PREFIX = "custom_"
_RUN_CHARACTERS = "A-Za-z0-9_.%+/=-"
"""All characters that any kind allows."""


class SecretPrefix(Struct, frozen=True):
    """One prefix of a kind, by its number in the kind's table."""

    kind: SecretKind
    number: int
    text: str


class RedactionRules:
    """Immutable, and safe to share between threads."""

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
        """Looked for wherever it stands; it is in none of the engine's patterns, because those are kept on the disk."""
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
            with self._lock:
                self._matcher = self._matcher or self._compile()
        return self._matcher

    def scan(self, text: str) -> frozenset[str]:
        found = self.matcher.find_ids(text.encode(errors="replace"))
        return found | {SHELL_NONCE} if self._has_nonce(text) else found

    def scan_lines(self, text: str) -> list[tuple[int, str]]:
        found = self.matcher.find_line_ids(text.encode(errors="replace"))
        if self._has_nonce(text):
            rows = enumerate(text.split("\n"))
            found = [*found, *((number, SHELL_NONCE) for number, row in rows if self._has_nonce(row))]
        return found

    def _has_nonce(self, text: str) -> bool:
        return bool(self.nonce) and self.nonce in text

    def restrict_to(self, kind_ids: Container[str]) -> "RedactionRules":
        """Some of the kinds, behind the same engine: nothing is compiled again."""
        return RedactionRules(
            [kind for kind in self.kinds.values() if kind.id in kind_ids], shared_rules=self, nonce=self.nonce
        )

    @property
    def is_compiled(self) -> bool:
        """Whether the first text will not have to wait for the compiler."""
        return self._matcher is not None or (self._cache is not None and is_cached(self.patterns, self._cache))

    @property
    def custom_patterns(self) -> dict[str, str]:
        """The user's own of the patterns."""
        return {name: pattern for name, pattern in self.patterns.items() if name.startswith(_CUSTOM_PREFIX)}

    def _compile(self) -> PatternMatcher:
        """Patterns that nobody knows meet Hyperscan only after they were tried: those that are kept were."""
        is_tried = self.is_compiled or not (self.custom_patterns and self._cache)
        return compile_patterns(self.patterns, "auto" if is_tried else "re2", cache_folder=self._cache)

    @property
    def patterns(self) -> dict[str, str]:
        """What the engine scans for."""
        patterns = {kind.id: kind.build_engine_pattern() for kind in self.kinds.values()}
        if headless := _build_cut_prefix_pattern(tuple(prefix.text for prefix in self.prefixes)):
            patterns[CUT_PREFIX] = headless
        return patterns


@lru_cache(maxsize=2)
def _build_cut_prefix_pattern(prefixes: tuple[str, ...]) -> str:
    """The rest of any of these and what must follow; kept, as every start asks for it several times."""
    rests = sorted({rest for prefix in prefixes for rest in _list_prefix_rests(prefix)})
    by_run: dict[str, set[str]] = {}
    for rest in rests:
        by_run.setdefault(build_run_pattern(rest), set()).add(rest)
    either = "|".join(f"{_build_trie_pattern(some)}{run}" for run, some in by_run.items())
    return f"^{ROW_START_CLASS}*(?:{either})" if rests else ""


def build_run_pattern(rest: str) -> str:
    """What must follow the rest of a cut prefix: less where more of it is seen, all within twenty columns."""
    least = 15 if len(rest) < 4 else 11 if len(rest) < 8 else 4
    return f"[A-Za-z0-9][{_RUN_CHARACTERS}]{{{least}}}"


def _list_prefix_rests(prefix: str) -> list[str]:
    """What is left of a cut prefix, but not a single character: that cut is seen on the row before."""
    return [prefix[at:] for at in range(1, max(len(prefix) - 1, 2))]


def build_rules(
    extra: Sequence[str] = (), allow: Sequence[str] = (), *, cache: str | None = None, nonce: str = ""
) -> RedactionRules:
    """The built-in kinds without the allowed ones, and the user's own patterns as ``custom_1``, ``custom_2``, …

    ``cache`` is a private folder that keeps the compiled patterns for the next process; ``nonce`` is our shells' own.
    """
    known = [kind.id for kind in BUILTIN_KINDS]
    unknown = [name for name in allow if name not in known]
    if unknown:
        raise ConfigError(
            f"redact_allow: there is no kind of secret named {', '.join(unknown)}; the kinds are {', '.join(known)}",
            details={"unknown": unknown, "kinds": known},
        )
    builtin = (_add_nonce(kind, nonce) for kind in BUILTIN_KINDS if kind.id not in allow)
    rules = RedactionRules([*builtin, *_build_custom_kinds(extra)], cache, nonce=nonce)
    if extra and not rules.is_compiled:  # what is kept was checked
        compile_patterns({kind.id: kind.probe for kind in rules.kinds.values() if kind.id.startswith(_CUSTOM_PREFIX)})
    return rules


def _add_nonce(kind: SecretKind, nonce: str) -> SecretKind:
    """The kind that also knows our own nonce where nothing around it tells."""
    if kind.id != SHELL_NONCE or not nonce:
        return kind
    own = re.escape(nonce)
    pattern = rf"(?:{NOT_AFTER_ALNUM}nonce=|(?={own}))(?P<secret>{own}|[0-9a-f]{{32}}(?![A-Za-z0-9]))"
    return replace(kind, pattern=pattern)


def _build_custom_kinds(patterns: Sequence[str]) -> list[SecretKind]:
    return [
        SecretKind(
            id=f"{_CUSTOM_PREFIX}{number}",
            doc="A pattern of the user's",
            pattern=pattern,
            probe=pattern,
            value_check=is_always_secret,
        )
        for number, pattern in enumerate(patterns, 1)
    ]


def _build_trie_pattern(texts: set[str]) -> str:
    """One pattern for many literals, branching where they differ: far smaller to compile than a plain list."""
    heads = sorted({text[0] for text in texts if text})
    branches = [
        re.escape(head) + _build_trie_pattern({text[1:] for text in texts if text[:1] == head}) for head in heads
    ]
    both = "(?:" + "|".join(branches) + ")" if branches else ""
    return both + "?" if branches and "" in texts else both


class SecretKindRow(Struct, frozen=True):
    """One kind as the docs show it."""

    name: str
    doc: str
    prefixes: tuple[str, ...]
    wrapped: bool


def list_kinds() -> list[SecretKindRow]:
    return [
        SecretKindRow(kind.id, kind.doc, kind.prefixes, bool(kind.charset) or kind.id == "private_key")
        for kind in BUILTIN_KINDS
    ]
