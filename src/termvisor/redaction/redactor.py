"""Secrets out of a stream of settled lines, and out of any text.

Lines come in, lines of the same number go out. What the next line needs to know is ``state``: a kind and a count, no
text. Cutting the stream differently, or stopping and going on from ``state``, gives the same lines.
"""

from collections.abc import Sequence

from termvisor.redaction import mask
from termvisor.redaction import private_key_block as block
from termvisor.redaction import wrapped_lines as wrapping
from termvisor.redaction.ruleset import HEADLESS, Rules, build
from termvisor.redaction.seen_secrets import Memory
from termvisor.redaction.wrapped_lines import Open

_NOTHING: frozenset[str] = frozenset()
_ONLY_HEADLESS = frozenset({HEADLESS})
_default = build()


def use(rules: Rules) -> None:
    """From now on these rules are meant where none are named."""
    global _default  # noqa: PLW0603
    _default = rules


def in_use() -> Rules:
    return _default


def redact(text: str) -> str:
    """The text, of one line or many, without the secrets we recognise."""
    return "\n".join(Redactor().lines(text.split("\n")))


def redact_each(texts: Sequence[str]) -> list[str]:
    """Every text as `redact` gives it; where there is nothing to hide, all of them are looked at at once."""
    if not texts or not _default.scan("\n".join(texts)):
        return list(texts)
    if len(texts) == 1:
        return [redact(texts[0])]
    middle = len(texts) // 2
    return [*redact_each(texts[:middle]), *redact_each(texts[middle:])]


class Redactor:
    """One per stream; not for several threads. With a ``memory`` it also masks pieces of what that has seen whole."""

    def __init__(self, rules: Rules | None = None, state: bytes = b"", memory: Memory | None = None):
        self._given = rules
        self._memory = memory
        self._open = wrapping.decode(state)
        self._before = ""

    @property
    def _rules(self) -> Rules:
        return self._given or _default  # a running stream follows rules that are taken over later

    @property
    def state(self) -> bytes:
        still_open = self._open or wrapping.cut_prefix(self._rules, self._before)
        return still_open.encode() if still_open else b""

    def lines(self, texts: Sequence[str]) -> list[str]:
        joined = "\n".join(texts)
        hits = self._rules.scan_lines(joined)
        if not hits and self._open is None:
            self._before = texts[-1] if texts else self._before
            return [self._memory.masked(text) for text in texts] if self._memory else list(texts)
        if joined.count("\n") >= len(texts):
            return [self._several(text) for text in texts]
        names: dict[int, set[str]] = {}
        for number, name in hits:
            names.setdefault(number, set()).add(name)
        return [self._line(text, frozenset(names.get(number, _NOTHING))) for number, text in enumerate(texts)]

    def glimpse(self, text: str) -> None:
        """Learn from what the next line was before something was written over it."""
        held = self._open, self._before
        self.lines([text])
        self._open, self._before = held

    def _several(self, text: str) -> str:
        return "\n".join(part for line in text.split("\n") for part in self.lines([line]))

    def _line(self, text: str, names: frozenset[str]) -> str:
        shown, is_rest = text, False
        was, self._open = self._open, None
        if was is None and HEADLESS in names:
            was = wrapping.cut_prefix(self._rules, self._before)
        if was and not self._is_another(text, was, names):
            text, self._open = self._go_on(text, was)
            is_rest = text != shown
            names = self._rules.scan(text) if is_rest else names
        if self._open is None and names - _ONLY_HEADLESS:
            text = self._mask(text, names)
        self._before = text
        if self._memory is None:
            return text
        if text != shown:
            self._memory.learn(shown, text, is_rest=is_rest)
        return self._memory.masked(text)

    def _is_another(self, text: str, was: Open, names: frozenset[str]) -> bool:
        return was.kind != block.KIND and wrapping.begins_anew(self._rules, text, names)

    def _go_on(self, text: str, was: Open) -> tuple[str, Open | None]:
        return block.go_on(text, was) if was.kind == block.KIND else wrapping.go_on(self._rules, text, was)

    def _mask(self, text: str, names: frozenset[str]) -> str:
        cut, still_open = wrapping.cut_at_end(self._rules, text, names)
        spans = mask.find(self._rules, names, cut)
        if spans:
            still_open = wrapping.reaches_end(cut, spans) or still_open
            cut, later = wrapping.cut_at_end(self._rules, mask.settle(self._rules, mask.replace(cut, spans)), names)
            still_open = later or still_open  # the shorter row has the last word, as it will when it is read again
        self._open = (block.begins(cut) if block.KIND in names else None) or still_open
        return cut
