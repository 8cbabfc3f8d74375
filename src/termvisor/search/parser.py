"""Parse a search query into a tree: words, "phrases", prefix*, AND OR NOT - ( ) and filters such as pane:7.

Any text results in a tree or in a BadRequest that states where the problem is and what to write instead.
"""

import re
from collections.abc import Callable
from typing import Literal, TypeVar, get_args

from msgspec import Struct

from termvisor.clock import parse_timestamp
from termvisor.errors import BadRequest, InternalError
from termvisor.model.agent.session import MESSAGE_ROLES, MessageRole
from termvisor.model.detection.rule import Severity
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource
from termvisor.search import query_tree
from termvisor.store.sqlite.index_text import EMOJI_RANGES

T = TypeVar("T")
WordSplitter = Callable[[str], list[tuple[int, int, str]]]
"""Split a text into words as the index does; return the start and end of each."""
_MAX_QUERY_LENGTH = 2000
_MAX_TOKENS = 256
# SQLite's FTS parser fails a little beyond this nesting.
_MAX_DEPTH = 12
_MAX_TIME_NS = (1 << 63) - 1
_SEVERITIES: dict[str, Severity] = {severity: severity for severity in get_args(Severity)}
_ROLES: dict[str, MessageRole] = {role: role for role in MESSAGE_ROLES}
_SOURCES: dict[str, TextSource] = {"stream": "stream", "screen": "screen", "transcript": "transcript"}
QueryTokenKind = Literal["words", "filter", "and", "or", "not", "open", "close", "end"]
_OPERATORS: dict[str, QueryTokenKind] = {"AND": "and", "OR": "or", "NOT": "not"}
_FILTER_NAME = re.compile(r"(pane|session|target|since|until|source|agent|role|event|rule|severity):")
_QUOTED_TEXT = re.compile(r'"([^"]*)"(\*?)')
_BARE_WORD = re.compile(r'[^\s"]+')
_NEGATION_SIGN = re.compile(rf'-(?=[^\W_]|[{EMOJI_RANGES}"(])')


class QueryToken(Struct, frozen=True, kw_only=True):
    """A token that begins at index ``position``; ``name`` is set for filters."""

    kind: QueryTokenKind
    position: int
    text: str = ""
    name: str = ""
    is_prefix: bool = False


def parse_query(text: str, now: int, split: WordSplitter) -> query_tree.QueryNode:
    """Parse a query. Raises BadRequest if it is malformed, too long or has no word to search for."""
    if len(text) > _MAX_QUERY_LENGTH:
        raise BadRequest(f"query too long: {len(text)} characters", hint=f"The limit is {_MAX_QUERY_LENGTH}.")
    # No stored text contains lone surrogates.
    tokens = tokenize_query(text.encode("utf-8", "replace").decode())
    if len(tokens) > _MAX_TOKENS:
        raise BadRequest(f"query too long: {len(tokens)} terms and operators", hint=f"The limit is {_MAX_TOKENS}.")
    node = _QueryParser(tokens, now, split).parse()
    if not query_tree.has_words(node):
        raise BadRequest(
            "the query has only exclusions and filters",
            hint="Add a word to search for, on each side of OR; `visor get-text` shows all lines of a pane.",
        )
    return node


def quote_phrase(text: str) -> str:
    """Return the text as a phrase of the query language."""
    return '"' + text.replace('"', " ") + '"'


class _QueryParser:
    """Recursive-descent parser over the tokens.

    or = and { OR and } · and = not { [AND] not } · not = { NOT | - } part · part = ( or ) | words | filter
    """

    def __init__(self, tokens: list[QueryToken], now: int, split: WordSplitter):
        self._tokens, self._now, self._split = tokens, now, split
        self._position = 0
        self._depth = 0

    def parse(self) -> query_tree.QueryNode:
        if self._current_token.kind == "end":
            raise BadRequest("the query is empty", hint='Write what to search for, for example: error OR "timed out"')
        node = self._parse_or()
        if self._current_token.kind == "close":
            raise build_query_error(self._current_token, "unmatched )", 'Remove it, or quote it: ")"')
        return node

    @property
    def _current_token(self) -> QueryToken:
        return self._tokens[self._position]

    def _advance(self) -> QueryToken:
        token = self._current_token
        self._position += 1
        return token

    def _parse_or(self) -> query_tree.QueryNode:
        parts = [self._parse_and()]
        while self._current_token.kind == "or":
            self._advance()
            parts.append(self._parse_and())
        return parts[0] if len(parts) == 1 else query_tree.OrNode(tuple(parts))

    def _parse_and(self) -> query_tree.QueryNode:
        parts = [self._parse_not()]
        while self._current_token.kind not in ("or", "close", "end"):
            if self._current_token.kind == "and":
                self._advance()
            parts.append(self._parse_not())
        return parts[0] if len(parts) == 1 else query_tree.AndNode(tuple(parts))

    def _parse_not(self) -> query_tree.QueryNode:
        is_negated = False
        while self._current_token.kind == "not":
            self._advance()
            is_negated = not is_negated
        part = self._parse_part()
        return query_tree.NotNode(part) if is_negated else part

    def _parse_part(self) -> query_tree.QueryNode:
        token = self._advance()
        match token.kind:
            case "open":
                return self._parse_group(token)
            case "words":
                return self._parse_phrase(token)
            case "filter":
                return self._parse_filter(token)
            case "end":
                raise build_query_error(token, "the query ends too early", "Add a word, or quote the last one.")
            case _:
                raise build_query_error(
                    token, f"a word is missing before {token.text}", f"Add one, or quote it: {quote_phrase(token.text)}"
                )

    def _parse_group(self, open_token: QueryToken) -> query_tree.QueryNode:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise build_query_error(open_token, f"more than {_MAX_DEPTH} nested parentheses", "Write a simpler query.")
        node = self._parse_or()
        if self._advance().kind != "close":
            raise build_query_error(open_token, "this ( is not closed", 'Add a ), or quote it: "("')
        self._depth -= 1
        return node

    def _parse_phrase(self, token: QueryToken) -> query_tree.QueryNode:
        words = tuple(word for _, _, word in self._split(token.text))
        if not words:
            raise build_query_error(
                token,
                f"{token.text!r} has no letter, digit or emoji to search for",
                "Punctuation cannot be searched alone; remove it or quote it together with a word.",
            )
        return query_tree.PhraseNode(words, token.is_prefix)

    def _parse_filter(self, token: QueryToken) -> query_tree.QueryNode:
        name, value = token.name, token.text
        if not value:
            raise build_query_error(
                token, f"{name}: needs a value", f"Write it without a space, or quote it: {quote_phrase(name + ':')}"
            )
        match name:
            case "pane":
                return _parse_pane(token)
            case "session" | "target" | "agent":
                return query_tree.NamedPanesNode(name, value)
            case "role":
                return query_tree.RoleNode(_choose(token, _ROLES, "role", "Roles"))
            case "since":
                return query_tree.TimeRangeNode(since=self._parse_time(token))
            case "until":
                return query_tree.TimeRangeNode(until=self._parse_time(token))
            case "source":
                return query_tree.SourceNode(_choose(token, _SOURCES, "source", "Sources"))
            case "severity":
                return query_tree.DetectionNode(name, _choose(token, _SEVERITIES, "severity", "Severities"))
            case "event" | "rule":
                return query_tree.DetectionNode(name, value)
            case _:
                raise InternalError(f"unknown filter {name}:")

    def _parse_time(self, token: QueryToken) -> int:
        try:
            return max(0, min(parse_timestamp(token.text, self._now), _MAX_TIME_NS))
        except (BadRequest, ValueError, OverflowError) as error:
            # Replace its message with one that includes the position.
            raise build_query_error(
                token,
                f"{token.text!r} is not a time",
                f"Write for example {token.name}:10m, {token.name}:today or {token.name}:2026-11-15T21:00.",
            ) from error


def _parse_pane(token: QueryToken) -> query_tree.QueryNode:
    if not (token.text.isascii() and token.text.isdigit()):
        raise build_query_error(token, f"pane:{token.text} is not a number", "`visor list-panes` shows the numbers.")
    return query_tree.PanesNode(frozenset({PaneId(int(token.text))}))


def _choose(token: QueryToken, choices: dict[str, T], noun: str, plural: str) -> T:
    if token.text not in choices:
        raise build_query_error(token, f"unknown {noun} {token.text!r}", f"{plural} are {', '.join(choices)}.")
    return choices[token.text]


def tokenize_query(text: str) -> list[QueryToken]:
    """Return all tokens, the last one of kind ``end``. Raises BadRequest for an unclosed quote."""
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
    # A ) without a matching ( in the word closes a group: `(a OR main())`.
    while word.endswith(")") and word.count(")") > word.count("("):
        word = word[:-1]
    end = at + len(word)
    if word in _OPERATORS:
        return QueryToken(kind=_OPERATORS[word], position=at, text=word), end
    is_prefix = len(word) > 1 and word.endswith("*")
    return QueryToken(kind="words", position=at, text=word[:-1] if is_prefix else word, is_prefix=is_prefix), end
