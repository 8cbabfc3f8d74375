"""The user's text as a tree: words, "phrases", prefix*, AND OR NOT - ( ) and filters such as pane:7.

Whatever is typed gives a tree, or `BadRequest` that says where and what to write instead.
"""

from collections.abc import Callable
from typing import Literal, get_args

from termvisor.clock import parse_when
from termvisor.errors import BadRequest, Broken
from termvisor.model.agent.transcript_message import ROLES, Role
from termvisor.model.detection.rule import Severity
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource
from termvisor.search.lexer import Piece, pieces, wrong
from termvisor.search.query_tree import (
    And,
    By,
    Detected,
    From,
    InPanes,
    Named,
    Node,
    Not,
    Or,
    Phrase,
    Within,
    has_words,
)

Split = Callable[[str], list[tuple[int, int, str]]]
"""A text's words with where they begin and end, as the index splits it."""

_LONGEST = 2000
_MOST_PIECES = 256
_DEEPEST = 12
"""The index's own parser gives up a little beyond this."""
_INSTANT = (1 << 63) - 1
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_ROLES: dict[str, Role] = {role: role for role in ROLES}
_SOURCES: dict[str, TextSource] = {"stream": "stream", "screen": "screen", "transcript": "transcript"}


def parse(text: str, now: int, split: Split) -> Node:
    if len(text) > _LONGEST:
        raise BadRequest(f"the query has {len(text)} characters", hint=f"At most {_LONGEST} are possible.")
    found = pieces(text.encode("utf-8", "replace").decode())  # what is no character is in no text
    if len(found) > _MOST_PIECES:
        raise BadRequest(f"the query has {len(found)} words and signs", hint=f"At most {_MOST_PIECES} are possible.")
    node = _Parser(found, now, split).query()
    if not has_words(node):
        raise BadRequest(
            "the query says only what to leave out or where to look",
            hint="Add a word to look for, on each side of OR; `visor get-text` shows all lines of a pane.",
        )
    return node


def quote(text: str) -> str:
    """Any text as a phrase of the query language."""
    return '"' + text.replace('"', " ") + '"'


class _Parser:
    """or = and { OR and } · and = not { [AND] not } · not = { NOT | - } part · part = ( or ) | words | filter"""

    def __init__(self, found: list[Piece], now: int, split: Split):
        self._pieces, self._now, self._split = found, now, split
        self._next = 0
        self._depth = 0

    def query(self) -> Node:
        if self._piece.kind == "end":
            raise BadRequest("the query is empty", hint='Write what to look for, for example: error OR "timed out"')
        node = self._or()
        if self._piece.kind == "close":
            raise wrong(self._piece, "there is no ( for this )", 'Remove it, or quote it: ")"')
        return node

    @property
    def _piece(self) -> Piece:
        return self._pieces[self._next]

    def _take(self) -> Piece:
        piece = self._piece
        self._next += 1
        return piece

    def _or(self) -> Node:
        parts = [self._and()]
        while self._piece.kind == "or":
            self._take()
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _and(self) -> Node:
        parts = [self._not()]
        while self._piece.kind not in ("or", "close", "end"):
            if self._piece.kind == "and":
                self._take()
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _not(self) -> Node:
        is_negated = False
        while self._piece.kind == "not":
            self._take()
            is_negated = not is_negated
        part = self._part()
        return Not(part) if is_negated else part

    def _part(self) -> Node:
        piece = self._take()
        match piece.kind:
            case "open":
                return self._group(piece)
            case "words":
                return self._phrase(piece)
            case "filter":
                return self._filter(piece)
            case "end":
                raise wrong(piece, "something must follow here", "Add a word, or quote the last one.")
            case _:
                raise wrong(
                    piece, f"a word is missing before {piece.text}", f"Add one, or quote it: {quote(piece.text)}"
                )

    def _group(self, opened: Piece) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise wrong(opened, f"more than {_DEEPEST} parentheses stand in each other", "Write a simpler query.")
        node = self._or()
        if self._take().kind != "close":
            raise wrong(opened, "this ( is not closed", 'Add a ), or quote it: "("')
        self._depth -= 1
        return node

    def _phrase(self, piece: Piece) -> Node:
        words = tuple(word for _, _, word in self._split(piece.text))
        if not words:
            raise wrong(
                piece,
                f"{piece.text!r} has no letter or digit to look for",
                "Punctuation cannot be looked up alone; leave it out or quote it together with a word.",
            )
        return Phrase(words, piece.is_prefix)

    def _filter(self, piece: Piece) -> Node:
        name, value = piece.name, piece.text
        if not value:
            raise wrong(piece, f"{name}: needs a value", f"Write it without a space, or quote it: {quote(name + ':')}")
        match name:
            case "pane":
                return _pane(piece)
            case "session" | "target" | "agent":
                return Named(name, value)
            case "role":
                return _role(piece)
            case "since":
                return Within(since=self._when(piece))
            case "until":
                return Within(until=self._when(piece))
            case "source":
                return _source(piece)
            case "event" | "rule" | "severity":
                return _detected(name, piece)
            case _:
                raise Broken(f"the filter {name}: has no meaning")

    def _when(self, piece: Piece) -> int:
        try:
            return max(0, min(parse_when(piece.text, self._now), _INSTANT))
        except (BadRequest, ValueError, OverflowError) as error:
            raise wrong(
                piece,
                f"{piece.text!r} is not a time",
                f"Write for example {piece.name}:10m, {piece.name}:today or {piece.name}:2026-11-15T21:00.",
            ) from error


def _pane(piece: Piece) -> Node:
    if not (piece.text.isascii() and piece.text.isdigit()):
        raise wrong(piece, f"pane:{piece.text} is not a number", "`visor list-panes` shows the numbers.")
    return InPanes(frozenset({PaneId(int(piece.text))}))


def _role(piece: Piece) -> Node:
    if piece.text not in _ROLES:
        raise wrong(piece, f"there is no role {piece.text!r}", f"Roles are {', '.join(_ROLES)}.")
    return By(_ROLES[piece.text])


def _detected(kind: Literal["event", "rule", "severity"], piece: Piece) -> Node:
    if kind == "severity" and piece.text not in _SEVERITIES:
        raise wrong(piece, f"there is no severity {piece.text!r}", f"Severities are {', '.join(_SEVERITIES)}.")
    return Detected(kind, piece.text)


def _source(piece: Piece) -> Node:
    if piece.text not in _SOURCES:
        raise wrong(piece, f"there is no source {piece.text!r}", f"Sources are {', '.join(_SOURCES)}.")
    return From(_SOURCES[piece.text])
