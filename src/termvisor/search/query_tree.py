"""The query tree; the index query, time range and sources derived from it; and its exact match with one line.

Words of a line are split exactly as in the index. Pure.
"""

import re
from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct

from termvisor.model.agent.session import MessageRole
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource

NamedFilter = Literal["session", "target", "agent", "event", "rule"]
"""Filters whose value is a name."""
WordSpan = tuple[int, int, str]
CharacterSpans = tuple[tuple[int, int], ...]


class PhraseNode(Struct, frozen=True):
    """Consecutive words as split by the index. If ``is_prefix``, the last one is a prefix."""

    words: tuple[str, ...]
    is_prefix: bool = False


class PanesNode(Struct, frozen=True):
    panes: frozenset[PaneId]


class NamedPanesNode(Struct, frozen=True):
    """The panes of a session, target or agent, not yet resolved to ids."""

    kind: Literal["session", "target", "agent"]
    name: str


class AgentNode(Struct, frozen=True):
    """Transcript messages of an agent, and other text in the panes where it is or was running."""

    agent: str
    panes: frozenset[PaneId]


class DetectionNode(Struct, frozen=True):
    """Lines of events with this type, rule or minimum severity, not yet resolved; ``pattern`` may be a glob."""

    kind: Literal["event", "rule", "severity"]
    pattern: str


class EventLinesNode(Struct, frozen=True):
    """The lines in which events were detected, by pane and words."""

    lines: frozenset[tuple[PaneId, tuple[str, ...]]]


class RoleNode(Struct, frozen=True):
    """Transcript messages of a user or of an agent."""

    role: MessageRole


class TimeRangeNode(Struct, frozen=True):
    """From ``since`` to ``until``, both inclusive."""

    since: int | None = None
    until: int | None = None


class SourceNode(Struct, frozen=True):
    source: TextSource


class NotNode(Struct, frozen=True):
    part: "QueryNode"


class AndNode(Struct, frozen=True):
    parts: "tuple[QueryNode, ...]"


class OrNode(Struct, frozen=True):
    parts: "tuple[QueryNode, ...]"


QueryNode = (
    PhraseNode
    | PanesNode
    | NamedPanesNode
    | AgentNode
    | DetectionNode
    | EventLinesNode
    | RoleNode
    | TimeRangeNode
    | SourceNode
    | NotNode
    | AndNode
    | OrNode
)

_NO_PANES = PanesNode(frozenset())


def has_words(node: QueryNode) -> bool:
    """Return True if a matching line must contain a word of the query or of an event."""
    match node:
        case PhraseNode() | DetectionNode() | EventLinesNode():
            return True
        case AndNode(parts):
            return any(has_words(part) for part in parts)
        case OrNode(parts):
            return all(has_words(part) for part in parts)
        case _:
            return False


def find_wanted_phrases(node: QueryNode) -> Iterator[PhraseNode]:
    """Yield the phrases to search for, without excluded ones."""
    match node:
        case PhraseNode():
            yield node
        case AndNode(parts) | OrNode(parts):
            for part in parts:
                yield from find_wanted_phrases(part)
        case _:
            return


def find_time_range(node: QueryNode) -> TimeRangeNode:
    """Return the time range outside which nothing can match."""
    match node:
        case TimeRangeNode():
            return node
        case AndNode(parts):
            inner = [find_time_range(part) for part in parts]
            return TimeRangeNode(
                max((each.since for each in inner if each.since is not None), default=None),
                min((each.until for each in inner if each.until is not None), default=None),
            )
        case _:
            return TimeRangeNode()


_ALL_SOURCES: frozenset[TextSource] = frozenset(get_args(TextSource))


def find_sources(node: QueryNode) -> frozenset[TextSource]:
    """Return the sources in which something can match."""
    match node:
        case SourceNode(source):
            return frozenset({source})
        case RoleNode():
            return frozenset({"transcript"})
        case NotNode(SourceNode(source)):
            return _ALL_SOURCES - {source}
        case AndNode(parts):
            return _ALL_SOURCES.intersection(*map(find_sources, parts))
        case OrNode(parts):
            return frozenset().union(*map(find_sources, parts))
        case _:
            return _ALL_SOURCES


def build_index_query(node: QueryNode) -> str | None:
    """Return an FTS query that finds every block with a matching line, and perhaps others; None if there is none.

    Exclusions are left to the line match: a word may be absent from one line of a block but present in the next.
    """
    match node:
        case PhraseNode(words, is_prefix):
            return f'text : "{" ".join(words)}"' + (" *" if is_prefix else "")
        case EventLinesNode(lines):
            return build_index_query(
                OrNode(tuple(map(PhraseNode, sorted({words for _, words in lines}))) or (_NO_PANES,))
            )
        case PanesNode(panes) | AgentNode(_, panes):
            # No pane has id 0, so an empty set matches nothing.
            return "pane : (" + " OR ".join(f'"{pane}"' for pane in sorted(panes) or [PaneId(0)]) + ")"
        case AndNode(parts):
            queries = [query for part in parts if (query := build_index_query(part)) is not None]
            return f"({' AND '.join(queries)})" if queries else None
        case OrNode(parts):
            sides = [query for part in parts if (query := build_index_query(part)) is not None]
            return f"({' OR '.join(sides)})" if len(sides) == len(parts) else None
        case _:
            return None


class SearchableLine(Struct, frozen=True):
    """A line to match; ``until`` is set for screen rows, which are visible over a period of time."""

    words: list[str]
    pane: PaneId
    at: int
    source: TextSource
    until: int = 0
    role: MessageRole | None = None
    agent: str = ""


class LinePrefilter:
    """Fast selection of the lines of a text that may match, without splitting them into words."""

    def __init__(self, node: QueryNode):
        anchors = sorted(find_anchor_words(node))
        self._pattern = re.compile("|".join(re.escape(word) for word in anchors))
        self._has_anchors = bool(anchors)
        self._required_words = sorted(find_required_words(node) - frozenset(anchors))

    def select_lines(self, text: str) -> list[tuple[int, str]]:
        """Return the lines that may match, with their index. Non-ASCII lines are always included."""
        if not self._has_anchors:
            return list(enumerate(text.split("\n")))
        if text.isascii():
            return list(self._select_ascii_lines(text, text.lower()))
        lines = enumerate(text.split("\n"))
        return [(index, line) for index, line in lines if not line.isascii() or self._pattern.search(line.lower())]

    def _select_ascii_lines(self, text: str, lower: str) -> Iterator[tuple[int, str]]:
        position = index = 0
        while match := self._pattern.search(lower, position):
            index += lower.count("\n", position, match.start())
            first, end = lower.rfind("\n", 0, match.start()) + 1, lower.find("\n", match.end())
            position = len(lower) if end < 0 else end
            if all(lower.find(word, first, position) >= 0 for word in self._required_words):
                yield index, text[first:position]


def find_required_words(node: QueryNode) -> frozenset[str]:
    """Return words that every matching line contains, possibly inside a longer word."""
    match node:
        case PhraseNode(words):
            return frozenset(words)
        case AndNode(parts):
            return frozenset().union(*map(find_required_words, parts))
        case _:
            return frozenset()


def find_anchor_words(node: QueryNode) -> frozenset[str]:
    """Return words of which every matching line contains at least one; empty if there are none."""
    match node:
        case PhraseNode(words):
            return frozenset({max(words, key=len)})
        case EventLinesNode(lines):
            return frozenset(max(words, key=len) for _, words in lines)
        case AndNode(parts):
            candidates = [anchors for part in parts if (anchors := find_anchor_words(part))]
            return min(candidates, key=lambda words: (len(words), -min(map(len, words))), default=frozenset())
        case OrNode(parts):
            sides = [find_anchor_words(part) for part in parts]
            return frozenset().union(*sides) if all(sides) else frozenset()
        case _:
            return frozenset()


def is_match(node: QueryNode, line: SearchableLine) -> bool:
    match node:
        case PhraseNode():
            return any(True for _ in _find_phrase(node, line.words))
        case AndNode(parts):
            return all(is_match(part, line) for part in parts)
        case OrNode(parts):
            return any(is_match(part, line) for part in parts)
        case NotNode(part):
            return not is_match(part, line)
        case _:
            return _is_condition_met(node, line)


def _is_condition_met(condition: QueryNode, line: SearchableLine) -> bool:
    """Return True if the line meets a filter on pane, time, source, agent or role."""
    match condition:
        case PanesNode(panes):
            return line.pane in panes
        case EventLinesNode(lines):
            return (line.pane, tuple(line.words)) in lines
        case TimeRangeNode(since, until):
            last = max(line.at, line.until)
            return (since is None or last >= since) and (until is None or line.at <= until)
        case SourceNode(source):
            return line.source == source
        case AgentNode(agent, panes):
            return line.agent == agent if line.source == "transcript" else line.pane in panes
        case RoleNode(role):
            return line.role == role
        case _:
            return False


def find_spans(node: QueryNode, text: str, words: list[WordSpan]) -> CharacterSpans:
    """Return the character spans of the query's phrases in the text, in order and with overlapping spans merged."""
    names = [word for _, _, word in words]
    spans = sorted(
        (words[first][0], words[last][1])
        for phrase in find_wanted_phrases(node)
        for first, last in _find_phrase(phrase, names)
    )
    data = text.encode("utf-8", "replace")
    return tuple((_count_characters(data, start), _count_characters(data, end)) for start, end in _merge_spans(spans))


def _find_phrase(phrase: PhraseNode, words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last word index of each occurrence of the phrase."""
    *head, tail = phrase.words
    for last in range(len(head), len(words)):
        is_tail = words[last].startswith(tail) if phrase.is_prefix else words[last] == tail
        if is_tail and words[last - len(head) : last] == head:
            yield last - len(head), last


def _merge_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _count_characters(data: bytes, offset: int) -> int:
    return len(data[:offset].decode("utf-8", "replace"))
