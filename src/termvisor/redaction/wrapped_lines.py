"""A provider's secret that a narrow screen broke over rows.

When a row ends inside a secret, what is remembered is its kind and how many characters were seen, never the text.
The next row's first run of fitting characters belongs to it when the whole is long enough. What was given out is not
taken back, so up to seven characters behind the prefix may stay on the first row. On the safe side: one ordinary word
that stands alone on the row after an unbounded secret is masked too; a word followed by other text is not.
"""

import re

from msgspec import Struct

from termvisor.redaction.mask import Span, marker
from termvisor.redaction.ordinary_words import is_plain, is_wordy
from termvisor.redaction.ruleset import Prefix, Rules, run_behind
from termvisor.redaction.secret_kind import LEAD, TAIL, Kind

SHOWN = 7
"""A cut secret with at most this many characters behind its prefix is not masked on its first row."""

_ANY_RUN = re.compile(r"[A-Za-z0-9_.%+/=-]*")
NARROWEST = 18
"""Where a row of twenty columns ends inside a frame; a key-like word that ends before it was not cut by an edge."""


class Open(Struct, frozen=True):
    """Row ended inside a secret: ``count`` characters seen, the prefix (by kind and number) included."""

    kind: str
    number: int
    count: int

    def encode(self) -> bytes:
        return f"{self.kind} {self.number} {self.count}".encode()


def decode(state: bytes) -> Open | None:
    """None for no state, and for one we cannot read: then only a secret cut just there may be missed."""
    match = re.fullmatch(rb"([a-z0-9_]{1,60}) ([0-9]{1,4}) ([0-9]{1,9})", state)
    return Open(match[1].decode(), int(match[2]), int(match[3])) if match else None


def cut_at_end(rules: Rules, text: str, names: frozenset[str]) -> tuple[str, Open | None]:
    """Mask a secret that the end of this row cuts off, if enough of it is here."""
    end = len(text.rstrip(TAIL))
    for kind in rules.kinds.values():
        if kind.id in names and kind.charset and (head := cut_run(kind, text, end)):
            return _mask_cut(text, kind, head, end)
    return text, cut_prefix(rules, text)


def begins_anew(rules: Rules, text: str, names: frozenset[str]) -> bool:
    """Whether another secret stands on the whole row: it would be lost in the one that the row before left open."""
    start, end = len(text) - len(text.lstrip(LEAD)), len(text.rstrip(TAIL))
    heads = (cut_run(kind, text, end) for kind in rules.kinds.values() if kind.id in names and kind.charset)
    return any(head is not None and head.start() == start for head in heads)


def may_be_rest(text: str) -> bool:
    """Whether a row may be the end of a secret whose beginning is out of sight."""
    run = _ANY_RUN.match(text.lstrip(LEAD))
    return run is not None and len(run[0]) > SHOWN and not is_wordy(run[0])


def cut_prefix(rules: Rules, text: str) -> Open | None:
    """The longest start of any prefix that this row ends with."""
    content = text.rstrip(TAIL)
    for count in range(min(rules.longest_start, len(content)), 0, -1):
        prefix = rules.starts.get(content[-count:])
        before = content[-count - 1 : -count]
        if prefix and not (before.isascii() and before.isalnum()):
            return Open(prefix.kind.id, prefix.number, count)
    return None


def reaches_end(text: str, spans: list[Span]) -> Open | None:
    """A whole secret that stands at the end of a row may go on in the next."""
    end = len(text.rstrip(TAIL))
    for span in spans:
        room = not span.kind.high or span.end - span.start < span.kind.high
        if span.end == end and span.kind.charset and room:
            return _opened(span.kind, text[span.head :], span.end - span.head)
    return None


def go_on(rules: Rules, text: str, was: Open) -> tuple[str, Open | None]:
    """Mask what this row has of the secret that the row before left open."""
    for prefix in _candidates(rules, was):
        start = len(text) - len(text.lstrip(LEAD))
        rest = prefix.text[was.count :]
        if text.startswith(rest, start):
            run = prefix.kind.run.match(text, start + len(rest))
            fits = run and (not rest or re.match(run_behind(rest), run[0]))
            if run and fits and (found := _continued(text, prefix, was.count, run)):
                return found
    return text, None


def _candidates(rules: Rules, was: Open) -> list[Prefix]:
    own = [prefix for prefix in rules.prefixes if prefix.kind.id == was.kind and prefix.number == was.number]
    if not own or was.count >= len(own[0].text):
        return own
    seen = own[0].text[: was.count]
    return [prefix for prefix in rules.prefixes if prefix.text.startswith(seen) and prefix.text != seen]


def _continued(text: str, prefix: Prefix, count: int, run: re.Match[str]) -> tuple[str, Open | None] | None:
    alone = run.end() == len(text.rstrip(TAIL))
    before = max(count - len(prefix.text), 0)
    sure = count < len(prefix.text)
    if not _belongs(prefix.kind, before, run[0], alone) and not (sure and alone and not is_plain(run[0])):
        return None
    masked = text[: run.start()] + marker(prefix.kind.id) + text[run.end() :]
    total = before + len(run[0])
    ends_here = not alone or total == prefix.kind.high or (is_wordy(run[0]) and total >= prefix.kind.low)
    return masked, None if ends_here else Open(prefix.kind.id, prefix.number, len(prefix.text) + total)


def _belongs(kind: Kind, before: int, run: str, alone: bool) -> bool:
    total = before + len(run)
    if not run or (kind.high and total > kind.high):
        return False
    if kind.high and total == kind.high:
        return True
    if alone:
        return before >= kind.low or (not is_plain(run) and (total >= kind.low or len(run) > SHOWN))
    return total >= kind.low and not is_wordy(run)


def cut_run(kind: Kind, text: str, end: int) -> re.Match[str] | None:
    """The prefix whose run goes up to ``end``; the run is measured from behind, so the cost is linear."""
    start = len(text[:end].rstrip(kind.characters))
    longest = max(len(prefix) for prefix in kind.prefixes)
    found = kind.any_prefix.finditer(text, max(0, start - longest), end)
    return next((match for match in found if match.end() >= start), None)


def _mask_cut(text: str, kind: Kind, head: re.Match[str], end: int) -> tuple[str, Open | None]:
    body = text[head.end() : end]
    if end < NARROWEST or (kind.high and len(body) >= kind.high):
        return text, None
    opened = _opened(kind, head[0], end - head.start())
    if len(body) > SHOWN and not is_plain(body):
        text = text[: head.end()] + marker(kind.id) + text[end:]
    return text, opened


def _opened(kind: Kind, text: str, count: int) -> Open:
    fitting = [number for number, prefix in enumerate(kind.prefixes) if text.startswith(prefix)]
    longest = max(fitting, key=lambda number: len(kind.prefixes[number]), default=0)
    return Open(kind.id, longest, count)
