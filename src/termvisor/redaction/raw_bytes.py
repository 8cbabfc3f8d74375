"""Secrets overwritten in raw bytes, in place: no byte moves, and escapes, white space and frames stay as they are.

Only kinds that cannot be mistaken: a provider's prefix, JWTs, private keys. Rows are read as a person sees them, with
escapes and frames removed, and judged by the same rules as text, so a key is found in colours, over wrapped rows and
inside boxes. Not found: a key painted cell by cell with something else between, and one that is encoded.

The nonce of our own shells, which every mark of theirs carries, is overwritten with ``x`` before all that. Any other
secret is overwritten with zeros and its prefix stays. Zeros belong to every kind's alphabet: what is derived from
masked bytes is redacted exactly as the secret itself would be. A row that reads as words is left: words are no keys.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from termvisor.redaction.mask import find_masked_parts
from termvisor.redaction.ordinary_words import has_only_words
from termvisor.redaction.private_key_block import PRIVATE_KEY_KIND as PRIVATE_KEY
from termvisor.redaction.redactor import Redactor, get_active_rules
from termvisor.redaction.ruleset import RedactionRules
from termvisor.redaction.secret_kind import FRAME_CHARS
from termvisor.redaction.seen_secrets import SeenSecrets
from termvisor.redaction.value_checks import REDACTION_MARKER
from termvisor.redaction.wrapped_lines import MAX_VISIBLE_CHARS, find_cut_run

CHUNK_BYTES = 1 << 18
EDGE_BYTES = 1 << 14
"""How many bytes on either side of a cut are needed to know what stands across it."""
_ESCAPE = rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])"
_ESCAPES = re.compile(_ESCAPE)
_TOKENS = re.compile(_ESCAPE + rb"|[\r\n\v\f\x07\x08]")
# A pager wraps by a blank and a step back.
_LINE_BREAK_TABLE = bytes.maketrans(b"\r\v\f\x07\x08", b"\n" * 5)
_ROW_BREAK_FINALS = frozenset(b"ABEFHfdSTr")
_BLANK_FINALS = frozenset(b"CGa`")
_ESC_BREAK_FINALS = frozenset(b"DEM]PX^_\\")
"""ESC and one of these: a new row, or the border of a string such as a title, whose text is a row of its own."""
_MARGIN_BYTES = b" \t" + "".join(sorted(set(FRAME_CHARS))).encode()
_KEPT_PARTS = re.compile(r"\.eyJ|\.")
"""Stays within a secret: the dots of a token and the letters by which its second part is known."""


class HeldRow(Struct, frozen=True):
    """The last row that was looked at: what it is may only be told by the next one."""

    text: str
    offsets: list[int]
    """Where each character stands in the bytes that are held with it."""


_NO_ROW = HeldRow("", [])


class RawByteMasker:
    """One per stream. What is fed comes out again, as many bytes, a little later; `finish` gives the rest."""

    def __init__(self, rules: RedactionRules | None = None):
        known = rules or get_active_rules()
        self._rules = known.restrict_to(
            {kind.id for kind in known.kinds.values() if kind.charset or kind.id == PRIVATE_KEY}
        )
        self._nonce = self._rules.nonce.encode()
        self._seen_secrets = SeenSecrets()
        self._redactor = Redactor(self._rules, seen_secrets=self._seen_secrets)
        self._buffer = bytearray()
        self._held_bytes = b""
        self._held_row = _NO_ROW
        self._released_count = 0
        self.secret_offsets: list[int] = []
        """Where in the stream the rows begin that had a secret in them."""

    def feed(self, data: bytes) -> bytes:
        self._buffer += data
        return self._mask_up_to(_find_cut(self._buffer)) if len(self._buffer) >= CHUNK_BYTES else b""

    def finish(self) -> bytes:
        return self._mask_up_to(len(self._buffer)) + self._held_bytes

    def _mask_up_to(self, end: int) -> bytes:
        fresh = bytes(self._buffer[:end])
        del self._buffer[:end]
        if self._nonce:
            fresh = fresh.replace(self._nonce, b"x" * len(self._nonce))
        rows = extract_rows(fresh)
        if not any(rows):
            return self._release(fresh)
        texts = b"\n".join(filter(None, rows)).decode("latin-1").split("\n")
        masked = self._redactor.redact_lines(texts)
        self._seen_secrets.count_lines(len(texts), is_repainting=False)
        changed = [number for number, text in enumerate(texts) if text != masked[number]]
        if not changed and not self._redactor.state:
            return self._release(fresh)
        placed = _RowLayout(self._held_bytes, fresh, rows)
        for number in changed:
            before = placed.get_row(texts, number - 1) if number else self._held_row
            here = placed.get_row(texts, number)
            if self._overwrite_secrets(placed.data, before, here, masked[number]):
                self.secret_offsets.append(self._released_count + here.offsets[0])
        begin, self._held_row = placed.get_last_row(texts)
        self._held_bytes = bytes(placed.data[begin:])
        self._released_count += begin
        return bytes(placed.data[:begin])

    def _release(self, fresh: bytes) -> bytes:
        ready, self._held_bytes, self._held_row = self._held_bytes + fresh, b"", _NO_ROW
        self._released_count += len(ready)
        return ready

    def _overwrite_secrets(self, data: bytearray, previous_row: HeldRow, row: HeldRow, masked_text: str) -> bool:
        found = [
            span
            for span in find_masked_parts(row.text, masked_text)
            if span[0] or not has_only_words(row.text[slice(*span)])
        ]
        for start, end in found:
            _overwrite_with_zeros(data, row, start or self._measure_prefix(row.text), end)
        if found and not found[0][0] and (marker := REDACTION_MARKER.match(masked_text)):
            kind = self._rules.kinds.get(marker[0][len("[redacted:") : -1])
            head = find_cut_run(kind, previous_row.text, len(previous_row.text)) if kind and kind.charset else None
            if head and 0 < len(previous_row.text) - head.end() <= MAX_VISIBLE_CHARS:
                _overwrite_with_zeros(data, previous_row, head.end(), len(previous_row.text))
        return bool(found)

    def _measure_prefix(self, text: str) -> int:
        """How long the prefix is with which a row begins that was taken for the rest of the row before it."""
        return max((len(prefix.text) for prefix in self._rules.prefixes if text.startswith(prefix.text)), default=0)


class _RowLayout:
    """The bytes that are held and those that are new, and where the rows of the new ones lie."""

    def __init__(self, held: bytes, fresh: bytes, rows: list[bytes]):
        self.data = bytearray(held + fresh)
        bounds = list(_find_row_bounds(fresh))
        self._bounds = [
            (len(held) + begin, len(held) + end) for row, (begin, end) in zip(rows, bounds, strict=True) if row
        ]

    def get_row(self, texts: list[str], number: int) -> HeldRow:
        begin, end = self._bounds[number]
        places, shown = _map_offsets(bytes(self.data[begin:end]))
        left = len(shown) - len(shown.lstrip(_MARGIN_BYTES))
        return HeldRow(texts[number], [begin + place for place in places[left:]])

    def get_last_row(self, texts: list[str]) -> tuple[int, HeldRow]:
        """Where the last row begins, and the row as it is held together with the bytes from there on."""
        begin = self._bounds[-1][0]
        row = self.get_row(texts, len(texts) - 1)
        return begin, HeldRow(row.text, [place - begin for place in row.offsets])


def _overwrite_with_zeros(data: bytearray, row: HeldRow, start: int, end: int) -> None:
    kept = {place for found in _KEPT_PARTS.finditer(row.text, start, end) for place in range(*found.span())}
    for place in range(start, end):
        if place not in kept:
            data[row.offsets[place]] = ord("0")


def mask_bytes(data: bytes, rules: RedactionRules | None = None) -> bytes:
    """The same number of bytes, with zeros in the place of secrets."""
    masking = RawByteMasker(rules)
    return masking.feed(data) + masking.finish()


def _find_cut(data: bytearray) -> int:
    """Where to part the bytes: behind a row, else before an escape or behind a blank, else at the end."""
    for mark, behind in ((b"\n", 1), (b"\r", 1), (b"\x1b", 0), (b" ", 1)):
        place = data.rfind(mark, 1)
        if place > 0:
            return place + behind
    return len(data)


def extract_rows(data: bytes) -> list[bytes]:
    """Each row as it is read, without its edges; many are empty."""
    return [
        row.strip(_MARGIN_BYTES) for row in _ESCAPES.sub(_render_escape, data).translate(_LINE_BREAK_TABLE).split(b"\n")
    ]


def _render_escape(match: re.Match[bytes]) -> bytes:
    """What an escape is to a reader of rows: the end of one, a blank, or nothing."""
    token = match[0]
    last = token[-1]
    if len(token) == 1:
        return b"\n"
    if token[1] == ord("["):
        return b"\n" if last in _ROW_BREAK_FINALS else b" " if last in _BLANK_FINALS else b""
    return b"\n" if last in _ESC_BREAK_FINALS else b""


def _find_row_bounds(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each row begins and ends."""
    begin = 0
    for token in _TOKENS.finditer(data):
        if _render_escape(token) == b"\n":
            yield begin, token.start()
            begin = token.end()
    yield begin, len(data)


def _map_offsets(row: bytes) -> tuple[list[int], bytes]:
    """For each byte that is shown, where it stands; and what is shown."""
    places: list[int] = []
    at = 0
    for token in _ESCAPES.finditer(row):
        places += range(at, token.start())
        places += [token.start()] * len(_render_escape(token))
        at = token.end()
    return places + list(range(at, len(row))), _ESCAPES.sub(_render_escape, row)
