"""The user's text as pieces: words, phrases, filters, signs. Only where a quote is open is there an error."""

import re
from typing import Literal

from msgspec import Struct

from termvisor.errors import BadRequest

Kind = Literal["words", "filter", "and", "or", "not", "open", "close", "end"]
_OPERATORS: dict[str, Kind] = {"AND": "and", "OR": "or", "NOT": "not"}
_FILTER = re.compile(r"(pane|session|target|since|until|source|agent|role|event|rule|severity):")
_QUOTED = re.compile(r'"([^"]*)"(\*?)')
_RUN = re.compile(r'[^\s"]+')
_NEGATION = re.compile(r'-(?=[^\W_]|["(])')


class Piece(Struct, frozen=True, kw_only=True):
    """``at`` is where it begins in the text; ``name`` is set for filters."""

    kind: Kind
    at: int
    text: str = ""
    name: str = ""
    is_prefix: bool = False


def pieces(text: str) -> list[Piece]:
    """All pieces, and ``end`` as the last one."""
    found: list[Piece] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        piece, at = _piece(text, at)
        found.append(piece)
    return [*found, Piece(kind="end", at=at)]


def wrong(piece: Piece, what: str, instead: str) -> BadRequest:
    """The error for a query that makes no sense at this piece."""
    return BadRequest(f"at character {piece.at + 1}: {what}", hint=instead, details={"position": piece.at + 1})


def _piece(text: str, at: int) -> tuple[Piece, int]:
    if text[at] in "()":
        return Piece(kind="open" if text[at] == "(" else "close", at=at, text=text[at]), at + 1
    if _NEGATION.match(text, at):
        return Piece(kind="not", at=at, text="-"), at + 1
    if match := _FILTER.match(text, at):
        return _filter(text, at, match)
    return _quoted(text, at) if text[at] == '"' else _run(text, at)


def _filter(text: str, at: int, match: re.Match[str]) -> tuple[Piece, int]:
    start = match.end()
    if start == len(text) or text[start].isspace() or text[start] == ")":
        return Piece(kind="filter", at=at, name=match[1]), start
    value, end = _quoted(text, start) if text[start] == '"' else _run(text, start)
    stars = "*" if value.is_prefix else ""
    return Piece(kind="filter", at=at, name=match[1], text=value.text + stars), end


def _quoted(text: str, at: int) -> tuple[Piece, int]:
    match = _QUOTED.match(text, at)
    if match is None:
        raise wrong(Piece(kind="words", at=at), "this quote is not closed", 'Add a " at the end, or leave it out.')
    return Piece(kind="words", at=at, text=match[1], is_prefix=bool(match[2])), match.end()


def _run(text: str, at: int) -> tuple[Piece, int]:
    match = _RUN.match(text, at)
    word = match[0] if match else text[at]
    # A ) that was not opened in the word closes a group: `(a OR main())`.
    while word.endswith(")") and word.count(")") > word.count("("):
        word = word[:-1]
    end = at + len(word)
    if word in _OPERATORS:
        return Piece(kind=_OPERATORS[word], at=at, text=word), end
    is_prefix = len(word) > 1 and word.endswith("*")
    return Piece(kind="words", at=at, text=word[:-1] if is_prefix else word, is_prefix=is_prefix), end
