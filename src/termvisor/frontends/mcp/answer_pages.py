"""Cut long answers into pages that a model can read, and keep the rest for the next calls.

Invariant: the pages of an answer joined are the answer; a page has at most ``PAGE_BYTES``, about 10,000 tokens with the
marks around it; what is kept is bounded.
"""

import os

PAGE_BYTES = 39_000
MAX_KEPT_BYTES = 8 << 20
MAX_KEPT_ANSWERS = 16
_MAX_BACK_BYTES = 4000
"""How far a page may end before its limit to end with a line."""


class AnswerPage:
    """One page. ``cursor`` gets the next one, if there is one; ``shown`` and ``total`` count bytes."""

    __slots__ = ("cursor", "is_untrusted", "note", "shown", "text", "total")

    def __init__(self, text: str, cursor: str, shown: int, total: int, is_untrusted: bool, note: str):
        self.text, self.cursor, self.shown, self.total = text, cursor, shown, total
        self.is_untrusted, self.note = is_untrusted, note


class AnswerPages:
    """Keeps the answers that were cut, by the random part of their cursors."""

    def __init__(self, page_bytes: int = PAGE_BYTES):
        self._page_bytes = page_bytes
        self._kept: dict[str, tuple[bytes, bool, str]] = {}

    def cut_answer(self, text: str, is_untrusted: bool, note: str) -> AnswerPage:
        """Return the first page of a new answer."""
        data = text.encode("utf-8", "replace")
        key = ""
        if len(data) > self._page_bytes:
            key = os.urandom(6).hex()
            self._kept[key] = (data, is_untrusted, note)
            self._drop_oldest()
        return self._build_page(key, data, 0, is_untrusted, note)

    def find_page(self, cursor: str) -> "AnswerPage | None":
        """Return the page at a cursor; None if the cursor is unknown or its answer was dropped."""
        key, _, offset = cursor.partition(".")
        kept = self._kept.get(key)
        if kept is None or not (offset.isascii() and offset.isdecimal()) or len(offset) > 9:
            return None
        data, is_untrusted, note = kept
        # Only between characters, so that a changed cursor cannot split one.
        if int(offset) >= len(data) or data[int(offset)] & 0xC0 == 0x80:
            return None
        return self._build_page(key, data, int(offset), is_untrusted, note)

    def _build_page(self, key: str, data: bytes, start: int, is_untrusted: bool, note: str) -> AnswerPage:
        end = self._find_end(data, start)
        cursor = f"{key}.{end}" if end < len(data) else ""
        return AnswerPage(data[start:end].decode(), cursor, end, len(data), is_untrusted, "" if cursor else note)

    def _find_end(self, data: bytes, start: int) -> int:
        end = start + self._page_bytes
        if end >= len(data):
            return len(data)
        newline = data.rfind(b"\n", max(start, end - _MAX_BACK_BYTES), end)
        if newline > start:
            return newline + 1
        while data[end] & 0xC0 == 0x80:
            end -= 1
        return end

    def _drop_oldest(self) -> None:
        while len(self._kept) > MAX_KEPT_ANSWERS or (
            len(self._kept) > 1 and sum(len(data) for data, _, _ in self._kept.values()) > MAX_KEPT_BYTES
        ):
            del self._kept[next(iter(self._kept))]
