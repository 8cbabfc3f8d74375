"""Overwrite secrets in raw terminal bytes in place, keeping offsets, escape sequences, white space and frames.

Only precise kinds are used: provider prefixes, JWTs, private keys. Rows are stripped of escapes and frames and matched
with the same rules as text, so a key is found in colours, across wrapped rows and inside boxes. Not found are keys
painted cell by cell with other output in between, and encoded keys.

First, the nonce of the user's shells is overwritten with ``x``, also pieces of it. Other secrets become zeros, but
their prefix is kept. Every kind's alphabet includes zero, so text derived from masked bytes is redacted exactly like
the secret itself. A row that consists of ordinary words is not changed.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from termvisor.redaction.mask import find_masked_parts
from termvisor.redaction.nonce_pieces import NonceOverwriter
from termvisor.redaction.partial_secrets import MAX_VISIBLE_CHARS, SeenSecrets, find_cut_run
from termvisor.redaction.private_key_block import PRIVATE_KEY_KIND
from termvisor.redaction.redactor import Redactor, get_active_rules
from termvisor.redaction.ruleset import RedactionRules
from termvisor.redaction.secret_kind import FRAME_CHARS
from termvisor.redaction.value_checks import REDACTION_MARKER, has_only_words

CHUNK_BYTES = 1 << 18
EDGE_BYTES = 1 << 14
"""Number of bytes needed on either side of a cut to recognise a secret that spans it."""
# An escape sequence, or a character without a width in UTF-8, which a key is copied with.
_INVISIBLE = rb"\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xc2\xad"
_ESCAPE = rb"(?:\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])|" + _INVISIBLE + rb")"
_ESCAPES = re.compile(_ESCAPE)
_TOKENS = re.compile(_ESCAPE + rb"|[\r\n\v\f\x07\x08]")
# Backspace is a break as well, because pagers wrap with a blank and a backspace.
_LINE_BREAK_TABLE = bytes.maketrans(b"\r\v\f\x07\x08", b"\n" * 5)
_ROW_BREAK_FINALS = frozenset(b"ABEFHfdSTr")
_BLANK_FINALS = frozenset(b"CGa`")
# ESC and one of these starts a new row, or begins or ends a string such as a title, which counts as its own row.
_ESC_BREAK_FINALS = frozenset(b"DEM]PX^_\\")
_MARGIN_BYTES = b" \t" + "".join(sorted(set(FRAME_CHARS))).encode()
# Not overwritten, because they are part of the form of a JWT: its dots and the start of its second part.
_KEPT_PARTS = re.compile(r"\.eyJ|\.")
# The last bytes of a chunk are scanned again with the next one, in case a secret spans both.
_PAINTED_OVERLAP_BYTES = 4096


class HeldRow(Struct, frozen=True):
    """The last scanned row, held back because only the next row may reveal that it ends within a secret."""

    text: str
    offsets: list[int]
    """The offset of each character in the bytes held with the row."""


_NO_ROW = HeldRow("", [])


class RawByteMasker:
    """Masker of one stream. `feed` returns masked bytes with a delay, `finish` the rest. The length never changes."""

    def __init__(self, rules: RedactionRules | None = None):
        rules = rules or get_active_rules()
        self._rules = rules.restrict_to(
            {kind.id for kind in rules.kinds.values() if kind.charset or kind.id == PRIVATE_KEY_KIND}
        )
        self._nonce_overwriter = NonceOverwriter(self._rules.nonce)
        self._seen_secrets = SeenSecrets()
        self._redactor = Redactor(self._rules, seen_secrets=self._seen_secrets)
        self._buffer = bytearray()
        self._held_bytes = b""
        self._held_row = _NO_ROW
        self._released_count = 0
        self.secret_offsets: list[int] = []
        """Stream offsets of the rows that contained a secret."""

    def feed(self, data: bytes) -> bytes:
        self._buffer += data
        return self._mask_up_to(_find_cut(self._buffer)) if len(self._buffer) >= CHUNK_BYTES else b""

    def finish(self) -> bytes:
        return self._mask_up_to(len(self._buffer)) + self._held_bytes

    def _mask_up_to(self, end: int) -> bytes:
        fresh = self._nonce_overwriter.overwrite(bytes(self._buffer[:end]))
        del self._buffer[:end]
        rows = extract_rows(fresh)
        if not any(rows):
            return self._release(fresh)
        texts = _decode_rows(rows)
        masked = self._redactor.redact_lines(texts)
        self._seen_secrets.count_lines(len(texts), is_repainting=False)
        changed = [number for number, text in enumerate(texts) if text != masked[number]]
        if not changed and not self._redactor.state:
            return self._release(fresh)
        layout = _RowLayout(self._held_bytes, fresh, rows)
        for number in changed:
            previous_row = layout.get_row(texts, number - 1) if number else self._held_row
            row = layout.get_row(texts, number)
            if self._overwrite_secrets(layout.data, previous_row, row, masked[number]):
                self.secret_offsets.append(self._released_count + row.offsets[0])
        begin, self._held_row = layout.get_last_row(texts)
        self._held_bytes = bytes(layout.data[begin:])
        self._released_count += begin
        return bytes(layout.data[:begin])

    def _release(self, fresh: bytes) -> bytes:
        ready, self._held_bytes, self._held_row = self._held_bytes + fresh, b"", _NO_ROW
        self._released_count += len(ready)
        return ready

    def _overwrite_secrets(self, data: bytearray, previous_row: HeldRow, row: HeldRow, masked_text: str) -> bool:
        parts = [
            span
            for span in find_masked_parts(row.text, masked_text)
            if span[0] or not has_only_words(row.text[slice(*span)])
        ]
        for start, end in parts:
            _overwrite_with_zeros(data, row, start or self._measure_prefix(row.text), end)
        if parts and not parts[0][0] and (marker := REDACTION_MARKER.match(masked_text)):
            kind = self._rules.kinds.get(marker[0][len("[redacted:") : -1])
            prefix = find_cut_run(kind, previous_row.text, len(previous_row.text)) if kind and kind.charset else None
            if prefix and 0 < len(previous_row.text) - prefix.end() <= MAX_VISIBLE_CHARS:
                _overwrite_with_zeros(data, previous_row, prefix.end(), len(previous_row.text))
        return bool(parts)

    def _measure_prefix(self, text: str) -> int:
        """Return the length of the prefix at the start of a row that was masked as a continuation."""
        return max((len(prefix.text) for prefix in self._rules.prefixes if text.startswith(prefix.text)), default=0)


class _RowLayout:
    """The held and the new bytes, and the bounds of the rows in the new bytes."""

    def __init__(self, held: bytes, fresh: bytes, rows: list[bytes]):
        self.data = bytearray(held + fresh)
        bounds = list(_find_row_bounds(fresh))
        self._bounds = [
            (len(held) + begin, len(held) + end) for row, (begin, end) in zip(rows, bounds, strict=True) if row
        ]

    def get_row(self, texts: list[str], number: int) -> HeldRow:
        begin, end = self._bounds[number]
        offsets, visible = _map_offsets(bytes(self.data[begin:end]))
        margin = len(visible) - len(visible.lstrip(_MARGIN_BYTES))
        return HeldRow(texts[number], [begin + offset for offset in offsets[margin:]])

    def get_last_row(self, texts: list[str]) -> tuple[int, HeldRow]:
        """Return the start of the last row, and the row itself with offsets relative to that start."""
        begin = self._bounds[-1][0]
        row = self.get_row(texts, len(texts) - 1)
        return begin, HeldRow(row.text, [offset - begin for offset in row.offsets])


def _overwrite_with_zeros(data: bytearray, row: HeldRow, start: int, end: int) -> None:
    unchanged = {offset for match in _KEPT_PARTS.finditer(row.text, start, end) for offset in range(*match.span())}
    for offset in range(start, end):
        if offset not in unchanged:
            data[row.offsets[offset]] = ord("0")


def mask_bytes(data: bytes, rules: RedactionRules | None = None) -> bytes:
    """Return the same number of bytes with secrets overwritten."""
    masker = RawByteMasker(rules)
    return masker.feed(data) + masker.finish()


def _find_cut(data: bytearray) -> int:
    """Return where to cut the bytes: after a row, else before an escape or after a blank, else at the end."""
    for separator, length in ((b"\n", 1), (b"\r", 1), (b"\x1b", 0), (b" ", 1)):
        offset = data.rfind(separator, 1)
        if offset > 0:
            return offset + length
    return len(data)


def extract_rows(data: bytes) -> list[bytes]:
    """Return the rows without escapes and margins; many are empty."""
    return [
        row.strip(_MARGIN_BYTES) for row in _ESCAPES.sub(_render_escape, data).translate(_LINE_BREAK_TABLE).split(b"\n")
    ]


def _decode_rows(rows: list[bytes]) -> list[str]:
    """Return the rows that are not empty, with one character for each byte."""
    # Alone, the byte of a soft hyphen is a part of another character, and must not count as invisible.
    return b"\n".join(filter(None, rows)).decode("latin-1").replace("\u00ad", "\u00ae").split("\n")


def _render_escape(match: re.Match[bytes]) -> bytes:
    """Return what an escape sequence means for rows: a line break, a blank, or nothing."""
    token = match[0]
    last = token[-1]
    if len(token) == 1:
        return b"\n"
    if token[1] == ord("["):
        return b"\n" if last in _ROW_BREAK_FINALS else b" " if last in _BLANK_FINALS else b""
    return b"\n" if last in _ESC_BREAK_FINALS else b""


def _find_row_bounds(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end offset of each row."""
    begin = 0
    for token in _TOKENS.finditer(data):
        if _render_escape(token) == b"\n":
            yield begin, token.start()
            begin = token.end()
    yield begin, len(data)


def _map_offsets(row: bytes) -> tuple[list[int], bytes]:
    """Return the offset of each visible byte, and the visible bytes."""
    offsets: list[int] = []
    at = 0
    for token in _ESCAPES.finditer(row):
        offsets += range(at, token.start())
        offsets += [token.start()] * len(_render_escape(token))
        at = token.end()
    return offsets + list(range(at, len(row))), _ESCAPES.sub(_render_escape, row)


class PaintedSecretLearner:
    """Learns secrets from the bytes that paint a screen, before they are painted over, for ``seen_secrets``.

    Screens are sampled only now and then, so a key may be partly covered in every sample. The bytes contain all of it.
    """

    def __init__(self, seen_secrets: SeenSecrets):
        self._seen_secrets = seen_secrets
        self._overlap = b""

    def feed(self, data: bytes) -> None:
        data = self._overlap + data
        self._overlap = data[-_PAINTED_OVERLAP_BYTES:]
        rules = get_active_rules()
        if any(kind in rules.kinds for kind in rules.matcher.find_ids(data)):
            texts = _decode_rows(extract_rows(data))
            masked = Redactor(seen_secrets=self._seen_secrets).redact_lines(texts)
            for text, after in zip(texts, masked, strict=True):
                self._seen_secrets.learn_values(text, after, is_any=False)
