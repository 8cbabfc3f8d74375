"""Find secrets within one line and replace them with ``[redacted:<kind>]``.

Masking is idempotent: existing markers are never changed, and masking repeats until nothing more is found.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from msgspec import Struct

from termvisor.redaction.ruleset import RedactionRules
from termvisor.redaction.secret_kind import SecretKind
from termvisor.redaction.value_checks import REDACTION_MARKER

# A rejected candidate is searched again only up to this length, so that even hostile text takes linear time.
_MAX_RESTART_CHARS = 512


class SecretSpan(Struct, frozen=True):
    """A secret in a line: ``start`` to ``end`` is masked; ``prefix_start`` is where the prefix of the kind begins."""

    prefix_start: int
    start: int
    end: int
    kind: SecretKind


def build_marker(kind: str) -> str:
    return f"[redacted:{kind}]"


def find_secrets(rules: RedactionRules, kind_ids: Iterable[str], text: str) -> list[SecretSpan]:
    """Return the secrets of these kinds, ordered by position."""
    masked = [match.span() for match in REDACTION_MARKER.finditer(text)]
    kinds = [kind for name, kind in rules.kinds.items() if name in kind_ids]
    spans = _deduplicate_spans([span for kind in kinds for span in _find_spans(kind, text, masked)])
    return sorted(_split_around_masks(spans, masked), key=lambda span: span.start)


def mask_spans(text: str, spans: list[SecretSpan]) -> str:
    """Replace the spans with markers. Overlapping spans become one marker, named after the first."""
    pieces, at = [], 0
    for span in spans:
        if span.start >= at:
            pieces += [text[at : span.start], build_marker(span.kind.id)]
        at = max(at, span.end)
    return "".join(pieces) + text[at:]


def find_masked_parts(text: str, masked: str) -> list[tuple[int, int]]:
    """Return the parts of the text that were masked, or, if ambiguous, one part from the first to the last marker."""
    first, *rest = REDACTION_MARKER.split(masked)
    parts: list[tuple[int, int]] = []
    at = len(first)
    for number, piece in enumerate(rest, 1):
        end = len(text) - len(piece) if number == len(rest) else text.find(piece, at + 1)
        if end < at or (not piece and number < len(rest)):
            return [(len(first), len(text) - len(rest[-1]))]
        if end > at and not REDACTION_MARKER.fullmatch(text, at, end):
            parts.append((at, end))
        at = end + len(piece)
    return parts


def mask_until_stable(rules: RedactionRules, text: str) -> str:
    """Mask until nothing more is found. This terminates, because each round leaves fewer characters outside markers."""
    while spans := find_secrets(rules, rules.scan(text), text):
        text = mask_spans(text, spans)
    return text


def _find_spans(kind: SecretKind, text: str, masked: list[tuple[int, int]]) -> Iterator[SecretSpan]:
    regex, at = kind.regex, 0
    while match := regex.search(text, at):
        inside = _find_enclosing_mask(masked, match.start())
        start, end = match.span("secret") if "secret" in regex.groupindex else match.span()
        accepted = not inside and end > start and kind.is_secret(match)
        if accepted:
            yield SecretSpan(match.start(), start, end, kind)
        at = inside or _get_next_start(match, start, accepted)


def _deduplicate_spans(spans: list[SecretSpan]) -> list[SecretSpan]:
    """Keep one span per secret, named after the first kind in the table: `Bearer ghp_…` is a GitHub token."""
    providers: dict[tuple[int, int], SecretSpan] = {}
    for span in spans:
        if span.kind.charset:
            providers.setdefault((span.prefix_start, span.end), span)
    by_context = [span for span in spans if not span.kind.charset and (span.start, span.end) not in providers]
    return [*providers.values(), *by_context]


def _get_next_start(match: re.Match[str], start: int, accepted: bool) -> int:
    if accepted or match.end() - start > _MAX_RESTART_CHARS:
        return max(match.end(), match.start() + 1)
    return max(start, match.start() + 1)


def _find_enclosing_mask(masked: list[tuple[int, int]], offset: int) -> int:
    """Return the end of the existing marker around this offset, or 0."""
    before = bisect_left(masked, (offset, 0)) - 1
    return masked[before][1] if before >= 0 and offset < masked[before][1] else 0


def _split_around_masks(spans: list[SecretSpan], masked: list[tuple[int, int]]) -> Iterator[SecretSpan]:
    """Yield the parts of spans that are outside existing markers."""
    for span in spans:
        at = span.start
        number = max(bisect_left(masked, (span.start, 0)) - 1, 0)
        while number < len(masked) and masked[number][0] < span.end:
            start, end = masked[number]
            if start > at:
                yield SecretSpan(span.prefix_start, at, start, span.kind)
            at = max(at, end)
            number += 1
        if at < span.end:
            yield SecretSpan(span.prefix_start, at, span.end, span.kind)
