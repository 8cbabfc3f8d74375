"""Secrets within one line: find them, and put ``[redacted:<kind>]`` in their place.

What is masked once stays as it is: masking ends when another look finds nothing more, so masking twice is masking once.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from msgspec import Struct

from termvisor.redaction.ruleset import Rules
from termvisor.redaction.secret_kind import Kind
from termvisor.redaction.value_checks import MARKER

_RESTART_WITHIN = 512
"""A refused candidate is searched for others up to this length, so that hostile text costs linear time."""


class Span(Struct, frozen=True):
    """``start`` to ``end`` is masked; ``head`` is where the kind's prefix begins."""

    head: int
    start: int
    end: int
    kind: Kind


def marker(kind: str) -> str:
    return f"[redacted:{kind}]"


def find(rules: Rules, names: Iterable[str], text: str) -> list[Span]:
    """What the named kinds see, in order of place."""
    masked = [match.span() for match in MARKER.finditer(text)]
    kinds = [kind for name, kind in rules.kinds.items() if name in names]
    spans = _named_once([span for kind in kinds for span in _find(kind, text, masked)])
    return sorted(_unmasked(spans, masked), key=lambda span: span.start)


def replace(text: str, spans: list[Span]) -> str:
    """Overlapping spans become one mask, named after the first."""
    pieces, at = [], 0
    for span in spans:
        if span.start >= at:
            pieces += [text[at : span.start], marker(span.kind.id)]
        at = max(at, span.end)
    return "".join(pieces) + text[at:]


def replaced(text: str, masked: str) -> list[tuple[int, int]]:
    """Which parts of the text were replaced by a marker; from the first to the last where that cannot be told."""
    first, *rest = MARKER.split(masked)
    found: list[tuple[int, int]] = []
    at = len(first)
    for number, piece in enumerate(rest, 1):
        end = len(text) - len(piece) if number == len(rest) else text.find(piece, at + 1)
        if end < at or (not piece and number < len(rest)):
            return [(len(first), len(text) - len(rest[-1]))]
        if end > at and not MARKER.fullmatch(text, at, end):
            found.append((at, end))
        at = end + len(piece)
    return found


def settle(rules: Rules, text: str) -> str:
    """Mask until nothing is left to mask. It ends: every round leaves fewer characters outside the masks."""
    while spans := find(rules, rules.scan(text), text):
        text = replace(text, spans)
    return text


def _find(kind: Kind, text: str, masked: list[tuple[int, int]]) -> Iterator[Span]:
    regex, at = kind.regex, 0
    while match := regex.search(text, at):
        inside = _mask_around(masked, match.start())
        start, end = match.span("secret") if "secret" in regex.groupindex else match.span()
        accepted = not inside and end > start and kind.accepts(match)
        if accepted:
            yield Span(match.start(), start, end, kind)
        at = inside or _next_start(match, start, accepted)


def _named_once(spans: list[Span]) -> list[Span]:
    """Where kinds see the very same secret, the first in the table names it: `Bearer ghp_…` is a GitHub token."""
    providers: dict[tuple[int, int], Span] = {}
    for span in spans:
        if span.kind.charset:
            providers.setdefault((span.head, span.end), span)
    forms = [span for span in spans if not span.kind.charset and (span.start, span.end) not in providers]
    return [*providers.values(), *forms]


def _next_start(match: re.Match[str], start: int, accepted: bool) -> int:
    if accepted or match.end() - start > _RESTART_WITHIN:
        return max(match.end(), match.start() + 1)
    return max(start, match.start() + 1)


def _mask_around(masked: list[tuple[int, int]], place: int) -> int:
    """The end of the existing mask that this place is inside of, or 0."""
    before = bisect_left(masked, (place, 0)) - 1
    return masked[before][1] if before >= 0 and place < masked[before][1] else 0


def _unmasked(spans: list[Span], masked: list[tuple[int, int]]) -> Iterator[Span]:
    """The parts of spans that stand outside existing masks."""
    for span in spans:
        at = span.start
        number = max(bisect_left(masked, (span.start, 0)) - 1, 0)
        while number < len(masked) and masked[number][0] < span.end:
            start, end = masked[number]
            if start > at:
                yield Span(span.head, at, start, span.kind)
            at = max(at, end)
            number += 1
        if at < span.end:
            yield Span(span.head, at, span.end, span.kind)
