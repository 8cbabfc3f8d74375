"""Decode UTF-8 as tmux does. Pure.

A leading byte takes as many bytes of 0x80 or above as its character needs, whatever they are; if they are no valid
character, all of them are dropped. A byte below 0x80 cancels an unfinished character. Other bytes are dropped singly.
What was dropped is kept as INVALID. There are no 8-bit controls: U+0080-U+009F show nothing.
"""

import re
from collections.abc import Iterator
from itertools import islice

from termvisor.terminal.screen_row import INVALID

_UNIT = re.compile(
    rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xff]?|[\xe0-\xef][\x80-\xff]{0,2}|[\xf0-\xf4][\x80-\xff]{0,3}"
    rb"|[\x80-\xc1\xf5-\xff]"
)
_UNFINISHED = re.compile(rb"[\xc2-\xdf]|[\xe0-\xef][\x80-\xff]?|[\xf0-\xf4][\x80-\xff]{0,2}")
_HIGH_BYTES = bytes(range(0x80, 0x100))
# Characters without a cell in tmux: C1 controls, and the line and paragraph separators.
_HIDDEN_BYTES = re.compile(rb"(?:\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9])+")


def decode_text(data: bytes, *, is_open: bool = False) -> tuple[str, int]:
    """Return the characters of the data up to the first hidden one, and the number of their bytes.

    If more bytes may follow (``is_open``), an unfinished character at the end is left out, too.
    """
    if (b"\xc2" in data or b"\xe2\x80" in data) and (hidden := _HIDDEN_BYTES.search(data)):
        head = _decode_head(data, hidden.start())
        if head is not None:
            return head
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if is_open and error.end == len(data) and error.reason == "unexpected end of data":
            data = data[: error.start]
            text = data.decode()
        else:
            data = data[: len(data) - _count_unfinished(data)] if is_open else data
            text = "".join([character for character, _ in iterate_characters(data)])
    return text, len(data)


def _decode_head(data: bytes, candidate: int) -> tuple[str, int] | None:
    """Return the characters before the first hidden one and their size; None if none is hidden.

    Bytes that look like a hidden character, first at ``candidate``, may belong to an invalid one before them. Only the
    head is decoded: a text full of hidden characters would otherwise be decoded again for each of them.
    """
    try:
        return data[:candidate].decode(), candidate
    except UnicodeDecodeError:
        # Invalid bytes before it may include the candidate.
        characters: list[str] = []
        position = 0
    for character, size in iterate_characters(data):
        if position >= candidate and _HIDDEN_BYTES.match(data, position) and character != INVALID:
            return "".join(characters), position
        characters.append(character)
        position += size
    return None


def count_hidden(data: bytes, index: int) -> int:
    """Return how many bytes at this index are characters that show nothing."""
    match = _HIDDEN_BYTES.match(data, index)
    return match.end() - index if match else 0


def iterate_characters(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield each character and its number of bytes."""
    for match in _UNIT.finditer(data):
        unit = match[0]
        try:
            character = unit.decode()
        except UnicodeDecodeError:
            character = INVALID
        yield character, len(unit)


def measure_bytes(data: bytes, text: str, count: int) -> int:
    """Return the number of bytes of the first ``count`` characters; ``data`` are the bytes of the whole text."""
    if len(data) == len(text):
        return count
    if INVALID not in text:
        return len(text[:count].encode())
    return sum(size for _, size in islice(iterate_characters(data), count))


def _count_unfinished(data: bytes) -> int:
    """Return how many bytes at the end begin a character that is not complete yet."""
    last = b""
    for match in _UNIT.finditer(data, len(data.rstrip(_HIGH_BYTES))):
        last = match[0]
    return len(last) if _UNFINISHED.fullmatch(last) else 0
