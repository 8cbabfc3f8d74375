"""The user's text as a tree: words, "phrases", prefix*, AND OR NOT - ( ) and filters such as pane:7.

Whatever is typed gives a tree, or `BadRequest` that says where and what to write instead.
"""

from collections.abc import Callable
from typing import Literal, get_args

from termvisor.clock import parse_timestamp
from termvisor.errors import BadRequest, InternalError
from termvisor.model.agent.transcript_message import MESSAGE_ROLES, MessageRole
from termvisor.model.detection.rule import Severity
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource
from termvisor.search.lexer import QueryToken, build_query_error, tokenize_query
from termvisor.search.query_tree import (
    AndNode,
    DetectionNode,
    NamedPanesNode,
    NotNode,
    OrNode,
    PanesNode,
    PhraseNode,
    QueryNode,
    RoleNode,
    SourceNode,
    TimeRangeNode,
    has_words,
)

WordSplitter = Callable[[str], list[tuple[int, int, str]]]
"""A text's words with where they begin and end, as the index splits it."""

_MAX_QUERY_LENGTH = 2000
_MAX_TOKENS = 256
_MAX_DEPTH = 12
"""The index's own parser gives up a little beyond this."""
_MAX_TIME_NS = (1 << 63) - 1
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_ROLES: dict[str, MessageRole] = {role: role for role in MESSAGE_ROLES}
_SOURCES: dict[str, TextSource] = {"stream": "stream", "screen": "screen", "transcript": "transcript"}


def parse_query(text: str, now: int, split: WordSplitter) -> QueryNode:
    if len(text) > _MAX_QUERY_LENGTH:
        raise BadRequest(f"the query has {len(text)} characters", hint=f"At most {_MAX_QUERY_LENGTH} are possible.")
    found = tokenize_query(text.encode("utf-8", "replace").decode())  # what is no character is in no text
    if len(found) > _MAX_TOKENS:
        raise BadRequest(f"the query has {len(found)} words and signs", hint=f"At most {_MAX_TOKENS} are possible.")
    node = _QueryParser(found, now, split).parse()
    if not has_words(node):
        raise BadRequest(
            "the query says only what to leave out or where to look",
            hint="Add a word to look for, on each side of OR; `visor get-text` shows all lines of a pane.",
        )
    return node


def quote_phrase(text: str) -> str:
    """Any text as a phrase of the query language."""
    return '"' + text.replace('"', " ") + '"'


class _QueryParser:
    """or = and { OR and } · and = not { [AND] not } · not = { NOT | - } part · part = ( or ) | words | filter"""

    def __init__(self, tokens: list[QueryToken], now: int, split: WordSplitter):
        self._tokens, self._now, self._split = tokens, now, split
        self._position = 0
        self._depth = 0

    def parse(self) -> QueryNode:
        if self._current_token.kind == "end":
            raise BadRequest("the query is empty", hint='Write what to look for, for example: error OR "timed out"')
        node = self._parse_or()
        if self._current_token.kind == "close":
            raise build_query_error(self._current_token, "there is no ( for this )", 'Remove it, or quote it: ")"')
        return node

    @property
    def _current_token(self) -> QueryToken:
        return self._tokens[self._position]

    def _advance(self) -> QueryToken:
        piece = self._current_token
        self._position += 1
        return piece

    def _parse_or(self) -> QueryNode:
        parts = [self._parse_and()]
        while self._current_token.kind == "or":
            self._advance()
            parts.append(self._parse_and())
        return parts[0] if len(parts) == 1 else OrNode(tuple(parts))

    def _parse_and(self) -> QueryNode:
        parts = [self._parse_not()]
        while self._current_token.kind not in ("or", "close", "end"):
            if self._current_token.kind == "and":
                self._advance()
            parts.append(self._parse_not())
        return parts[0] if len(parts) == 1 else AndNode(tuple(parts))

    def _parse_not(self) -> QueryNode:
        is_negated = False
        while self._current_token.kind == "not":
            self._advance()
            is_negated = not is_negated
        part = self._parse_part()
        return NotNode(part) if is_negated else part

    def _parse_part(self) -> QueryNode:
        piece = self._advance()
        match piece.kind:
            case "open":
                return self._parse_group(piece)
            case "words":
                return self._parse_phrase(piece)
            case "filter":
                return self._parse_filter(piece)
            case "end":
                raise build_query_error(piece, "something must follow here", "Add a word, or quote the last one.")
            case _:
                raise build_query_error(
                    piece, f"a word is missing before {piece.text}", f"Add one, or quote it: {quote_phrase(piece.text)}"
                )

    def _parse_group(self, opened: QueryToken) -> QueryNode:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise build_query_error(
                opened, f"more than {_MAX_DEPTH} parentheses stand in each other", "Write a simpler query."
            )
        node = self._parse_or()
        if self._advance().kind != "close":
            raise build_query_error(opened, "this ( is not closed", 'Add a ), or quote it: "("')
        self._depth -= 1
        return node

    def _parse_phrase(self, token: QueryToken) -> QueryNode:
        words = tuple(word for _, _, word in self._split(token.text))
        if not words:
            raise build_query_error(
                token,
                f"{token.text!r} has no letter or digit to look for",
                "Punctuation cannot be looked up alone; leave it out or quote it together with a word.",
            )
        return PhraseNode(words, token.is_prefix)

    def _parse_filter(self, token: QueryToken) -> QueryNode:
        name, value = token.name, token.text
        if not value:
            raise build_query_error(
                token, f"{name}: needs a value", f"Write it without a space, or quote it: {quote_phrase(name + ':')}"
            )
        match name:
            case "pane":
                return _parse_pane(token)
            case "session" | "target" | "agent":
                return NamedPanesNode(name, value)
            case "role":
                return _parse_role(token)
            case "since":
                return TimeRangeNode(since=self._parse_time(token))
            case "until":
                return TimeRangeNode(until=self._parse_time(token))
            case "source":
                return _parse_source(token)
            case "event" | "rule" | "severity":
                return _parse_detection(name, token)
            case _:
                raise InternalError(f"the filter {name}: has no meaning")

    def _parse_time(self, token: QueryToken) -> int:
        try:
            return max(0, min(parse_timestamp(token.text, self._now), _MAX_TIME_NS))
        except (BadRequest, ValueError, OverflowError) as error:
            raise build_query_error(
                token,
                f"{token.text!r} is not a time",
                f"Write for example {token.name}:10m, {token.name}:today or {token.name}:2026-11-15T21:00.",
            ) from error


def _parse_pane(token: QueryToken) -> QueryNode:
    if not (token.text.isascii() and token.text.isdigit()):
        raise build_query_error(token, f"pane:{token.text} is not a number", "`visor list-panes` shows the numbers.")
    return PanesNode(frozenset({PaneId(int(token.text))}))


def _parse_role(token: QueryToken) -> QueryNode:
    if token.text not in _ROLES:
        raise build_query_error(token, f"there is no role {token.text!r}", f"Roles are {', '.join(_ROLES)}.")
    return RoleNode(_ROLES[token.text])


def _parse_detection(kind: Literal["event", "rule", "severity"], token: QueryToken) -> QueryNode:
    if kind == "severity" and token.text not in _SEVERITIES:
        raise build_query_error(
            token, f"there is no severity {token.text!r}", f"Severities are {', '.join(_SEVERITIES)}."
        )
    return DetectionNode(kind, token.text)


def _parse_source(token: QueryToken) -> QueryNode:
    if token.text not in _SOURCES:
        raise build_query_error(token, f"there is no source {token.text!r}", f"Sources are {', '.join(_SOURCES)}.")
    return SourceNode(_SOURCES[token.text])
