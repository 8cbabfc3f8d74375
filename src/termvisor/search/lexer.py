"""Split a search query into tokens: words, phrases, filters, operators. Only an unclosed quote is an error."""

import re
from typing import Literal

from msgspec import Struct

from termvisor.errors import BadRequest

QueryTokenKind = Literal["words", "filter", "and", "or", "not", "open", "close", "end"]
_OPERATORS: dict[str, QueryTokenKind] = {"AND": "and", "OR": "or", "NOT": "not"}
_FILTER_NAME = re.compile(r"(pane|session|target|since|until|source|agent|role|event|rule|severity):")
_QUOTED_TEXT = re.compile(r'"([^"]*)"(\*?)')
_BARE_WORD = re.compile(r'[^\s"]+')
_NEGATION_SIGN = re.compile(r'-(?=[^\W_]|["(])')


class QueryToken(Struct, frozen=True, kw_only=True):
    """A token that begins at index ``position``; ``name`` is set for filters."""

    kind: QueryTokenKind
    position: int
    text: str = ""
    name: str = ""
    is_prefix: bool = False


def tokenize_query(text: str) -> list[QueryToken]:
    """Return all tokens, the last of kind ``end``. Raises BadRequest for an unclosed quote."""
    tokens: list[QueryToken] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token, at = _read_token(text, at)
        tokens.append(token)
    return [*tokens, QueryToken(kind="end", position=at)]


def build_query_error(token: QueryToken, problem: str, hint: str) -> BadRequest:
    """Build the error for a problem at a token."""
    return BadRequest(
        f"at character {token.position + 1}: {problem}", hint=hint, details={"position": token.position + 1}
    )


def _read_token(text: str, at: int) -> tuple[QueryToken, int]:
    if text[at] in "()":
        return QueryToken(kind="open" if text[at] == "(" else "close", position=at, text=text[at]), at + 1
    if _NEGATION_SIGN.match(text, at):
        return QueryToken(kind="not", position=at, text="-"), at + 1
    if match := _FILTER_NAME.match(text, at):
        return _read_filter(text, at, match)
    return _read_quoted(text, at) if text[at] == '"' else _read_word(text, at)


def _read_filter(text: str, at: int, match: re.Match[str]) -> tuple[QueryToken, int]:
    start = match.end()
    if start == len(text) or text[start].isspace() or text[start] == ")":
        return QueryToken(kind="filter", position=at, name=match[1]), start
    value, end = _read_quoted(text, start) if text[start] == '"' else _read_word(text, start)
    stars = "*" if value.is_prefix else ""
    return QueryToken(kind="filter", position=at, name=match[1], text=value.text + stars), end


def _read_quoted(text: str, at: int) -> tuple[QueryToken, int]:
    match = _QUOTED_TEXT.match(text, at)
    if match is None:
        raise build_query_error(
            QueryToken(kind="words", position=at), "unclosed quote", 'Add a " at the end, or remove it.'
        )
    return QueryToken(kind="words", position=at, text=match[1], is_prefix=bool(match[2])), match.end()


def _read_word(text: str, at: int) -> tuple[QueryToken, int]:
    match = _BARE_WORD.match(text, at)
    word = match[0] if match else text[at]
    # A ) that was not opened in the word closes a group: `(a OR main())`.
    while word.endswith(")") and word.count(")") > word.count("("):
        word = word[:-1]
    end = at + len(word)
    if word in _OPERATORS:
        return QueryToken(kind=_OPERATORS[word], position=at, text=word), end
    is_prefix = len(word) > 1 and word.endswith("*")
    return QueryToken(kind="words", position=at, text=word[:-1] if is_prefix else word, is_prefix=is_prefix), end
