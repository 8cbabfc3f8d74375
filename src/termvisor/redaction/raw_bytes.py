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

from termvisor.redaction.mask import replaced
from termvisor.redaction.ordinary_words import is_wordy
from termvisor.redaction.private_key_block import KIND as PRIVATE_KEY
from termvisor.redaction.redactor import Redactor, in_use
from termvisor.redaction.ruleset import Rules
from termvisor.redaction.secret_kind import FRAME
from termvisor.redaction.seen_secrets import Memory
from termvisor.redaction.value_checks import MARKER
from termvisor.redaction.wrapped_lines import SHOWN, cut_run

CHUNK = 1 << 18
EDGE = 1 << 14
"""How many bytes on either side of a cut are needed to know what stands across it."""
_ESCAPE = rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])"
_ESCAPES = re.compile(_ESCAPE)
_TOKENS = re.compile(_ESCAPE + rb"|[\r\n\v\f\x07\x08]")
# A pager wraps by a blank and a step back.
_AS_BREAKS = bytes.maketrans(b"\r\v\f\x07\x08", b"\n" * 5)
_BREAKS = frozenset(b"ABEFHfdSTr")
_BLANKS = frozenset(b"CGa`")
_LONE_BREAKS = frozenset(b"DEM]PX^_\\")
"""ESC and one of these: a new row, or the border of a string such as a title, whose text is a row of its own."""
_EDGES = b" \t" + "".join(sorted(set(FRAME))).encode()
_KEPT = re.compile(r"\.eyJ|\.")
"""Stays within a secret: the dots of a token and the letters by which its second part is known."""


class Held(Struct, frozen=True):
    """The last row that was looked at: what it is may only be told by the next one."""

    text: str
    places: list[int]
    """Where each character stands in the bytes that are held with it."""


_NOBODY = Held("", [])


class RawMask:
    """One per stream. What is fed comes out again, as many bytes, a little later; `finish` gives the rest."""

    def __init__(self, rules: Rules | None = None):
        known = rules or in_use()
        self._rules = known.only({kind.id for kind in known.kinds.values() if kind.charset or kind.id == PRIVATE_KEY})
        self._nonce = self._rules.nonce.encode()
        self._memory = Memory()
        self._redactor = Redactor(self._rules, memory=self._memory)
        self._fed = bytearray()
        self._tail = b""
        self._last = _NOBODY
        self._given = 0
        self.found: list[int] = []
        """Where in the stream the rows begin that had a secret in them."""

    def feed(self, data: bytes) -> bytes:
        self._fed += data
        return self._masked(_cut(self._fed)) if len(self._fed) >= CHUNK else b""

    def finish(self) -> bytes:
        return self._masked(len(self._fed)) + self._tail

    def _masked(self, end: int) -> bytes:
        fresh = bytes(self._fed[:end])
        del self._fed[:end]
        if self._nonce:
            fresh = fresh.replace(self._nonce, b"x" * len(self._nonce))
        rows = shown_rows(fresh)
        if not any(rows):
            return self._released(fresh)
        texts = b"\n".join(filter(None, rows)).decode("latin-1").split("\n")
        masked = self._redactor.lines(texts)
        self._memory.rest(len(texts), is_repainting=False)
        changed = [number for number, text in enumerate(texts) if text != masked[number]]
        if not changed and not self._redactor.state:
            return self._released(fresh)
        placed = _Placed(self._tail, fresh, rows)
        for number in changed:
            before = placed.row(texts, number - 1) if number else self._last
            here = placed.row(texts, number)
            if self._blank(placed.data, before, here, masked[number]):
                self.found.append(self._given + here.places[0])
        begin, self._last = placed.last(texts)
        self._tail = bytes(placed.data[begin:])
        self._given += begin
        return bytes(placed.data[:begin])

    def _released(self, fresh: bytes) -> bytes:
        ready, self._tail, self._last = self._tail + fresh, b"", _NOBODY
        self._given += len(ready)
        return ready

    def _blank(self, data: bytearray, before: Held, here: Held, after: str) -> bool:
        found = [span for span in replaced(here.text, after) if span[0] or not is_wordy(here.text[slice(*span)])]
        for start, end in found:
            _zero(data, here, start or self._own_prefix(here.text), end)
        if found and not found[0][0] and (marker := MARKER.match(after)):
            kind = self._rules.kinds.get(marker[0][len("[redacted:") : -1])
            head = cut_run(kind, before.text, len(before.text)) if kind and kind.charset else None
            if head and 0 < len(before.text) - head.end() <= SHOWN:
                _zero(data, before, head.end(), len(before.text))
        return bool(found)

    def _own_prefix(self, text: str) -> int:
        """How long the prefix is with which a row begins that was taken for the rest of the row before it."""
        return max((len(prefix.text) for prefix in self._rules.prefixes if text.startswith(prefix.text)), default=0)


class _Placed:
    """The bytes that are held and those that are new, and where the rows of the new ones lie."""

    def __init__(self, held: bytes, fresh: bytes, rows: list[bytes]):
        self.data = bytearray(held + fresh)
        bounds = list(_bounds(fresh))
        self._bounds = [
            (len(held) + begin, len(held) + end) for row, (begin, end) in zip(rows, bounds, strict=True) if row
        ]

    def row(self, texts: list[str], number: int) -> Held:
        begin, end = self._bounds[number]
        places, shown = _places(bytes(self.data[begin:end]))
        left = len(shown) - len(shown.lstrip(_EDGES))
        return Held(texts[number], [begin + place for place in places[left:]])

    def last(self, texts: list[str]) -> tuple[int, Held]:
        """Where the last row begins, and the row as it is held together with the bytes from there on."""
        begin = self._bounds[-1][0]
        row = self.row(texts, len(texts) - 1)
        return begin, Held(row.text, [place - begin for place in row.places])


def _zero(data: bytearray, row: Held, start: int, end: int) -> None:
    kept = {place for found in _KEPT.finditer(row.text, start, end) for place in range(*found.span())}
    for place in range(start, end):
        if place not in kept:
            data[row.places[place]] = ord("0")


def mask(data: bytes, rules: Rules | None = None) -> bytes:
    """The same number of bytes, with zeros in the place of secrets."""
    masking = RawMask(rules)
    return masking.feed(data) + masking.finish()


def _cut(data: bytearray) -> int:
    """Where to part the bytes: behind a row, else before an escape or behind a blank, else at the end."""
    for mark, behind in ((b"\n", 1), (b"\r", 1), (b"\x1b", 0), (b" ", 1)):
        place = data.rfind(mark, 1)
        if place > 0:
            return place + behind
    return len(data)


def shown_rows(data: bytes) -> list[bytes]:
    """Each row as it is read, without its edges; many are empty."""
    return [row.strip(_EDGES) for row in _ESCAPES.sub(_shown, data).translate(_AS_BREAKS).split(b"\n")]


def _shown(match: re.Match[bytes]) -> bytes:
    """What an escape is to a reader of rows: the end of one, a blank, or nothing."""
    token = match[0]
    last = token[-1]
    if len(token) == 1:
        return b"\n"
    if token[1] == ord("["):
        return b"\n" if last in _BREAKS else b" " if last in _BLANKS else b""
    return b"\n" if last in _LONE_BREAKS else b""


def _bounds(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each row begins and ends."""
    begin = 0
    for token in _TOKENS.finditer(data):
        if _shown(token) == b"\n":
            yield begin, token.start()
            begin = token.end()
    yield begin, len(data)


def _places(row: bytes) -> tuple[list[int], bytes]:
    """For each byte that is shown, where it stands; and what is shown."""
    places: list[int] = []
    at = 0
    for token in _ESCAPES.finditer(row):
        places += range(at, token.start())
        places += [token.start()] * len(_shown(token))
        at = token.end()
    return places + list(range(at, len(row))), _ESCAPES.sub(_shown, row)
