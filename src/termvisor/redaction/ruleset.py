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
from termvisor.redaction.context_patterns import FORMS
from termvisor.redaction.provider_prefixes import PROVIDERS, SHELL_NONCE
from termvisor.redaction.secret_kind import LEAD_CLASS, NOT_BEFORE, Kind
from termvisor.redaction.value_checks import is_anything
from termvisor.regex import Matcher, compile_patterns, is_cached

BUILTIN: tuple[Kind, ...] = PROVIDERS + FORMS
HEADLESS = "headless"
"""Not a kind: the row begins with the rest of some provider's prefix and a long run."""
_CUSTOM = "custom_"
_ANY_RUN = "A-Za-z0-9_.%+/=-"
"""All characters that any kind allows."""


class Prefix(Struct, frozen=True):
    """One prefix of a kind, by its number in the kind's table."""

    kind: Kind
    number: int
    text: str


class Rules:
    """Immutable, and safe to share between threads."""

    def __init__(
        self, kinds: Sequence[Kind], cache: str | None = None, engine_of: "Rules | None" = None, nonce: str = ""
    ):
        self._cache = cache
        self._engine_of = engine_of
        self.kinds = {kind.id: kind for kind in kinds}
        self.nonce = nonce if SHELL_NONCE in self.kinds else ""
        """Looked for wherever it stands; it is in none of the engine's patterns, because those are kept on the disk."""
        self.prefixes = tuple(Prefix(kind, number, text) for kind in kinds for number, text in enumerate(kind.prefixes))
        self.starts = {prefix.text[:end]: prefix for prefix in self.prefixes for end in range(1, len(prefix.text))}
        self.longest_start = max(map(len, self.starts), default=0)
        self._matcher: Matcher | None = None
        self._lock = threading.Lock()

    @property
    def matcher(self) -> Matcher:
        if self._engine_of is not None:
            return self._engine_of.matcher
        if self._matcher is None:
            with self._lock:
                self._matcher = self._matcher or self._compile()
        return self._matcher

    def scan(self, text: str) -> frozenset[str]:
        found = self.matcher.ids(text.encode(errors="replace"))
        return found | {SHELL_NONCE} if self._has_nonce(text) else found

    def scan_lines(self, text: str) -> list[tuple[int, str]]:
        found = self.matcher.lines(text.encode(errors="replace"))
        if self._has_nonce(text):
            rows = enumerate(text.split("\n"))
            found = [*found, *((number, SHELL_NONCE) for number, row in rows if self._has_nonce(row))]
        return found

    def _has_nonce(self, text: str) -> bool:
        return bool(self.nonce) and self.nonce in text

    def only(self, names: Container[str]) -> "Rules":
        """Some of the kinds, behind the same engine: nothing is compiled again."""
        return Rules([kind for kind in self.kinds.values() if kind.id in names], engine_of=self, nonce=self.nonce)

    @property
    def is_warm(self) -> bool:
        """Whether the first text will not have to wait for the compiler."""
        return self._matcher is not None or (self._cache is not None and is_cached(self.patterns, self._cache))

    @property
    def custom(self) -> dict[str, str]:
        """The user's own of the patterns."""
        return {name: pattern for name, pattern in self.patterns.items() if name.startswith(_CUSTOM)}

    def _compile(self) -> Matcher:
        """Patterns that nobody knows meet Hyperscan only after they were tried: those that are kept were."""
        is_tried = self.is_warm or not (self.custom and self._cache)
        return compile_patterns(self.patterns, "auto" if is_tried else "re2", cache=self._cache)

    @property
    def patterns(self) -> dict[str, str]:
        """What the engine scans for."""
        patterns = {kind.id: kind.engine_pattern() for kind in self.kinds.values()}
        if headless := _headless(tuple(prefix.text for prefix in self.prefixes)):
            patterns[HEADLESS] = headless
        return patterns


@lru_cache(maxsize=2)
def _headless(prefixes: tuple[str, ...]) -> str:
    """The rest of any of these and what must follow; kept, as every start asks for it several times."""
    rests = sorted({rest for prefix in prefixes for rest in _rests(prefix)})
    by_run: dict[str, set[str]] = {}
    for rest in rests:
        by_run.setdefault(run_behind(rest), set()).add(rest)
    either = "|".join(f"{_any_of(some)}{run}" for run, some in by_run.items())
    return f"^{LEAD_CLASS}*(?:{either})" if rests else ""


def run_behind(rest: str) -> str:
    """What must follow the rest of a cut prefix: less where more of it is seen, all within twenty columns."""
    least = 15 if len(rest) < 4 else 11 if len(rest) < 8 else 4
    return f"[A-Za-z0-9][{_ANY_RUN}]{{{least}}}"


def _rests(prefix: str) -> list[str]:
    """What is left of a cut prefix, but not a single character: that cut is seen on the row before."""
    return [prefix[at:] for at in range(1, max(len(prefix) - 1, 2))]


def build(extra: Sequence[str] = (), allow: Sequence[str] = (), *, cache: str | None = None, nonce: str = "") -> Rules:
    """The built-in kinds without the allowed ones, and the user's own patterns as ``custom_1``, ``custom_2``, …

    ``cache`` is a private folder that keeps the compiled patterns for the next process; ``nonce`` is our shells' own.
    """
    known = [kind.id for kind in BUILTIN]
    unknown = [name for name in allow if name not in known]
    if unknown:
        raise ConfigError(
            f"redact_allow: there is no kind of secret named {', '.join(unknown)}; the kinds are {', '.join(known)}",
            details={"unknown": unknown, "kinds": known},
        )
    builtin = (_knowing(kind, nonce) for kind in BUILTIN if kind.id not in allow)
    rules = Rules([*builtin, *_custom(extra)], cache, nonce=nonce)
    if extra and not rules.is_warm:  # what is kept was checked
        compile_patterns({kind.id: kind.probe for kind in rules.kinds.values() if kind.id.startswith(_CUSTOM)})
    return rules


def _knowing(kind: Kind, nonce: str) -> Kind:
    """The kind that also knows our own nonce where nothing around it tells."""
    if kind.id != SHELL_NONCE or not nonce:
        return kind
    own = re.escape(nonce)
    pattern = rf"(?:{NOT_BEFORE}nonce=|(?={own}))(?P<secret>{own}|[0-9a-f]{{32}}(?![A-Za-z0-9]))"
    return replace(kind, pattern=pattern)


def _custom(patterns: Sequence[str]) -> list[Kind]:
    return [
        Kind(
            id=f"{_CUSTOM}{number}",
            doc="A pattern of the user's",
            pattern=pattern,
            probe=pattern,
            judge=is_anything,
        )
        for number, pattern in enumerate(patterns, 1)
    ]


def _any_of(texts: set[str]) -> str:
    """One pattern for many literals, branching where they differ: far smaller to compile than a plain list."""
    heads = sorted({text[0] for text in texts if text})
    branches = [re.escape(head) + _any_of({text[1:] for text in texts if text[:1] == head}) for head in heads]
    both = "(?:" + "|".join(branches) + ")" if branches else ""
    return both + "?" if branches and "" in texts else both


class Row(Struct, frozen=True):
    """One kind as the docs show it."""

    name: str
    doc: str
    prefixes: tuple[str, ...]
    wrapped: bool


def kinds() -> list[Row]:
    return [Row(kind.id, kind.doc, kind.prefixes, bool(kind.charset) or kind.id == "private_key") for kind in BUILTIN]
