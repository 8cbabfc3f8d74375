"""Mask secrets that are not whole on one row: wrapped by a narrow screen, or with a part painted over.

Wrapped: if a row ends within a provider's secret, its kind and the number of characters seen are remembered, never the
text. The first run of matching characters on the next row belongs to it if the total is long enough. Output is never
retracted, so up to seven characters after the prefix may stay on the first row. To be safe, a single ordinary word
alone on the row after an unbounded secret is masked too; a word followed by other text is not.

Painted over: pieces of secrets that were seen completely are remembered. All pieces of eight characters are masked
wherever they occur, and so is a whole value whose name, such as `password=`, was painted over, if it is shorter or has
other characters. They are kept only in memory. Their number is bounded, the oldest are dropped first, and all are
dropped after so many lines printed without repainting that no row with a secret can still be on a screen.
"""

import re
from collections import OrderedDict

from msgspec import Struct

from termvisor.redaction.mask import SecretSpan, build_marker, find_masked_parts
from termvisor.redaction.ruleset import RedactionRules, SecretPrefix, build_run_pattern
from termvisor.redaction.secret_kind import ROW_END_CHARS, ROW_START_CHARS, SecretKind
from termvisor.redaction.value_checks import REDACTION_MARKER, has_only_plain_words, has_only_words

MAX_VISIBLE_CHARS = 7
"""A secret cut after at most this many characters following its prefix is not masked on its first row."""

_RUN = re.compile(r"[A-Za-z0-9_.%+/=-]*")
MIN_ROW_CHARS = 18
"""The width of a 20-column row inside a frame. A key-like word that ends before this column was not cut by an edge."""


class OpenSecret(Struct, frozen=True):
    """A secret within which a row ended: ``count`` characters were seen, including the prefix ``kind``/``number``."""

    kind: str
    number: int
    count: int

    def encode(self) -> bytes:
        return f"{self.kind} {self.number} {self.count}".encode()


def decode_open_secret(state: bytes) -> OpenSecret | None:
    """Decode a stored state; None if it is empty or unreadable, in which case only a secret cut there may be missed."""
    match = re.fullmatch(rb"([a-z0-9_]{1,60}) ([0-9]{1,4}) ([0-9]{1,9})", state)
    return OpenSecret(match[1].decode(), int(match[2]), int(match[3])) if match else None


def mask_cut_secret(rules: RedactionRules, text: str, kind_ids: frozenset[str]) -> tuple[str, OpenSecret | None]:
    """Mask a secret that is cut by the end of this row if enough of it is visible."""
    end = len(text.rstrip(ROW_END_CHARS))
    for kind in rules.kinds.values():
        if kind.id in kind_ids and kind.charset and (head := find_cut_run(kind, text, end)):
            return _mask_cut_run(text, kind, head, end)
    return text, find_cut_prefix(rules, text)


def has_new_secret(rules: RedactionRules, text: str, kind_ids: frozenset[str]) -> bool:
    """Return True if a new secret fills the row, which must not be masked as the rest of the previous one."""
    start, end = len(text) - len(text.lstrip(ROW_START_CHARS)), len(text.rstrip(ROW_END_CHARS))
    heads = (find_cut_run(kind, text, end) for kind in rules.kinds.values() if kind.id in kind_ids and kind.charset)
    return any(head is not None and head.start() == start for head in heads)


def can_be_continuation(text: str) -> bool:
    """Return True if a row may be the end of a secret whose start is not visible."""
    run = _RUN.match(text.lstrip(ROW_START_CHARS))
    return run is not None and len(run[0]) > MAX_VISIBLE_CHARS and not has_only_words(run[0])


def find_cut_prefix(rules: RedactionRules, text: str) -> OpenSecret | None:
    """Find the longest beginning of any prefix at the end of this row."""
    content = text.rstrip(ROW_END_CHARS)
    for count in range(min(rules.max_partial_length, len(content)), 0, -1):
        prefix = rules.partial_prefixes.get(content[-count:])
        before = content[-count - 1 : -count]
        if prefix and not (before.isascii() and before.isalnum()):
            return OpenSecret(prefix.kind.id, prefix.number, count)
    return None


def find_open_secret(text: str, spans: list[SecretSpan]) -> OpenSecret | None:
    """Return the secret at the end of a row that may continue on the next."""
    end = len(text.rstrip(ROW_END_CHARS))
    for span in spans:
        room = not span.kind.max_length or span.end - span.start < span.kind.max_length
        if span.end == end and span.kind.charset and room:
            return _build_open_secret(span.kind, text[span.prefix_start :], span.end - span.prefix_start)
    return None


def mask_continuation(rules: RedactionRules, text: str, open_secret: OpenSecret) -> tuple[str, OpenSecret | None]:
    """Mask the rest of a secret that the previous row left open."""
    for prefix in _find_candidates(rules, open_secret):
        start = len(text) - len(text.lstrip(ROW_START_CHARS))
        rest = prefix.text[open_secret.count :]
        if text.startswith(rest, start):
            run = prefix.kind.run_regex.match(text, start + len(rest))
            is_match = run and (not rest or re.match(build_run_pattern(rest), run[0]))
            if run and is_match and (masked := _mask_run(text, prefix, open_secret.count, run)):
                return masked
    return text, None


def _find_candidates(rules: RedactionRules, open_secret: OpenSecret) -> list[SecretPrefix]:
    own = [
        prefix
        for prefix in rules.prefixes
        if prefix.kind.id == open_secret.kind and prefix.number == open_secret.number
    ]
    if not own or open_secret.count >= len(own[0].text):
        return own
    seen = own[0].text[: open_secret.count]
    return [prefix for prefix in rules.prefixes if prefix.text.startswith(seen) and prefix.text != seen]


def _mask_run(text: str, prefix: SecretPrefix, count: int, run: re.Match[str]) -> tuple[str, OpenSecret | None] | None:
    is_alone = run.end() == len(text.rstrip(ROW_END_CHARS))
    before = max(count - len(prefix.text), 0)
    is_prefix_cut = count < len(prefix.text)
    if not _is_part_of_secret(prefix.kind, before, run[0], is_alone) and not (
        is_prefix_cut and is_alone and not has_only_plain_words(run[0])
    ):
        return None
    masked = text[: run.start()] + build_marker(prefix.kind.id) + text[run.end() :]
    total = before + len(run[0])
    ends_here = (
        not is_alone or total == prefix.kind.max_length or (has_only_words(run[0]) and total >= prefix.kind.min_length)
    )
    return masked, None if ends_here else OpenSecret(prefix.kind.id, prefix.number, len(prefix.text) + total)


def _is_part_of_secret(kind: SecretKind, before: int, run: str, is_alone: bool) -> bool:
    total = before + len(run)
    if not run or (kind.max_length and total > kind.max_length):
        return False
    if kind.max_length and total == kind.max_length:
        return True
    if is_alone:
        return before >= kind.min_length or (
            not has_only_plain_words(run) and (total >= kind.min_length or len(run) > MAX_VISIBLE_CHARS)
        )
    return total >= kind.min_length and not has_only_words(run)


def find_cut_run(kind: SecretKind, text: str, end: int) -> re.Match[str] | None:
    """Find the prefix whose run reaches ``end``. The run is measured backwards, so the cost is linear."""
    start = len(text[:end].rstrip(kind.characters))
    longest = max(len(prefix) for prefix in kind.prefixes)
    found = kind.prefix_regex.finditer(text, max(0, start - longest), end)
    return next((match for match in found if match.end() >= start), None)


def _mask_cut_run(text: str, kind: SecretKind, head: re.Match[str], end: int) -> tuple[str, OpenSecret | None]:
    body = text[head.end() : end]
    if end < MIN_ROW_CHARS or (kind.max_length and len(body) >= kind.max_length):
        return text, None
    opened = _build_open_secret(kind, head[0], end - head.start())
    if len(body) > MAX_VISIBLE_CHARS and not has_only_plain_words(body):
        text = text[: head.end()] + build_marker(kind.id) + text[end:]
    return text, opened


def _build_open_secret(kind: SecretKind, text: str, count: int) -> OpenSecret:
    matching = [number for number, prefix in enumerate(kind.prefixes) if text.startswith(prefix)]
    longest = max(matching, key=lambda number: len(kind.prefixes[number]), default=0)
    return OpenSecret(kind.id, longest, count)


PIECE_CHARS = 8
"""One more than may stay visible of a secret cut by the end of a row (`MAX_VISIBLE_CHARS`)."""
MAX_PIECES = 16_384
"""Enough for 200 tokens that are printed and overwritten at once."""
MAX_VALUES = 64
"""Every value is searched in every line while it is remembered."""
FORGET_AFTER_LINES = 500
"""After this many plainly printed lines every screen has scrolled away."""
# A piece with fewer different characters (a ruler, masking zeros) is not distinctive.
_MIN_DISTINCT_CHARS = 4
_MIN_VALUE_CHARS, _MAX_VALUE_CHARS = 4, 256
_NO_WORD = re.compile(r"[^A-Za-z_. -]")
_SECRET_RUN = re.compile(rf"[A-Za-z0-9_+/%-]{{{PIECE_CHARS},}}")


class SeenSecrets:
    """Recently seen secrets, shared by all redactors of one pane; not thread-safe."""

    def __init__(self) -> None:
        self._kinds_by_piece: OrderedDict[str, str] = OrderedDict()
        """The kind of each piece, the most recent piece last."""
        self._values: dict[str, str] = {}
        """The kind of each whole value, the most recent value last."""
        self._last_secret_end = ""
        self._has_learnt = False
        self._lines_since_secret = 0

    def __bool__(self) -> bool:
        return bool(self._kinds_by_piece or self._values)

    def learn(self, text: str, masked: str, *, is_continuation: bool = False) -> None:
        """Remember what was masked in this line, which begins with the rest of the last one if ``is_continuation``."""
        kinds = REDACTION_MARKER.findall(masked)
        for start, end in find_masked_parts(text, masked):
            before = self._last_secret_end if is_continuation else ""
            self._add_secret(before + text[start:end], kinds[0][len("[redacted:") : -1])
            is_continuation = False

    def learn_values(self, text: str, masked: str, *, is_any: bool) -> None:
        """Remember the whole values that were masked in this line; unless ``is_any``, only those that are no words."""
        if text == masked:
            return
        kinds = REDACTION_MARKER.findall(masked)
        for start, end in find_masked_parts(text, masked):
            value = text[start:end]
            if _MIN_VALUE_CHARS <= len(value) <= _MAX_VALUE_CHARS and (is_any or _NO_WORD.search(value)):
                self._values.pop(value, None)
                self._values[value] = kinds[0][len("[redacted:") : -1]
                self._has_learnt = True
        for value in list(self._values)[: max(0, len(self._values) - MAX_VALUES)]:
            del self._values[value]

    def mask_known_pieces(self, text: str) -> str:
        """Mask the known values and pieces in a line."""
        for value, kind in self._values.items():
            if value in text:
                text = _mask_value(text, value, kind)
        done, at = "", 0
        for run in _SECRET_RUN.finditer(text):
            for start, end, kind in self._find_known_pieces(run[0]):
                done += text[at : run.start() + start] + build_marker(kind)
                at = run.start() + end
        return done + text[at:] if at else text

    def count_lines(self, lines: int, *, is_repainting: bool) -> None:
        """Count printed lines, and forget everything after enough lines without a secret or repainting."""
        is_calm = not (is_repainting or self._has_learnt)
        self._lines_since_secret, self._has_learnt = self._lines_since_secret + lines if is_calm else 0, False
        if self._lines_since_secret > FORGET_AFTER_LINES:
            self._kinds_by_piece.clear()
            self._values.clear()
            self._last_secret_end = ""

    def _add_secret(self, secret: str, kind: str) -> None:
        self._last_secret_end, self._has_learnt = secret[1 - PIECE_CHARS :], True
        for run in _SECRET_RUN.findall(secret):
            for at in range(len(run) - PIECE_CHARS + 1):
                piece = run[at : at + PIECE_CHARS]
                if self._kinds_by_piece.pop(piece, None) or _is_distinctive(piece):
                    self._kinds_by_piece[piece] = kind
        while len(self._kinds_by_piece) > MAX_PIECES:
            self._kinds_by_piece.popitem(last=False)

    def _find_known_pieces(self, run: str) -> list[tuple[int, int, str]]:
        known = self._kinds_by_piece.keys()
        if known.isdisjoint(pieces := [run[at : at + PIECE_CHARS] for at in range(len(run) - PIECE_CHARS + 1)]):
            return []
        found: list[tuple[int, int, str]] = []
        for at, piece in enumerate(pieces):
            if piece in known and found and at < found[-1][1]:
                found[-1] = (found[-1][0], at + PIECE_CHARS, found[-1][2])
            elif piece in known:
                found.append((at, at + PIECE_CHARS, self._kinds_by_piece[piece]))
        return found


def _mask_value(text: str, value: str, kind: str) -> str:
    """Mask a value where it is no part of a longer word or of a marker."""
    before = "(?<![A-Za-z0-9])" if value[0].isalnum() else ""
    behind = "(?![A-Za-z0-9])" if value[-1].isalnum() else ""
    parts = re.split(f"({REDACTION_MARKER.pattern})", text)
    word = re.compile(before + re.escape(value) + behind)
    return "".join(part if number % 2 else word.sub(build_marker(kind), part) for number, part in enumerate(parts))


def _is_distinctive(piece: str) -> bool:
    return len(set(piece)) >= _MIN_DISTINCT_CHARS and not has_only_words(piece)
