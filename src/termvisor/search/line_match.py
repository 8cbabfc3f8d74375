"""Match a query against one line and find the matched spans. Words are split exactly as in the index."""

import re
from collections.abc import Iterator

from msgspec import Struct

from termvisor.model.agent.session import MessageRole
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource
from termvisor.search import query_tree

WordSpan = tuple[int, int, str]
CharacterSpans = tuple[tuple[int, int], ...]


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

    def __init__(self, node: query_tree.QueryNode):
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


def find_required_words(node: query_tree.QueryNode) -> frozenset[str]:
    """Return words that every matching line contains, possibly inside a longer word."""
    match node:
        case query_tree.PhraseNode(words):
            return frozenset(words)
        case query_tree.AndNode(parts):
            return frozenset().union(*map(find_required_words, parts))
        case _:
            return frozenset()


def find_anchor_words(node: query_tree.QueryNode) -> frozenset[str]:
    """Return words of which every matching line contains at least one; empty if there are none."""
    match node:
        case query_tree.PhraseNode(words):
            return frozenset({max(words, key=len)})
        case query_tree.EventLinesNode(lines):
            return frozenset(max(words, key=len) for _, words in lines)
        case query_tree.AndNode(parts):
            candidates = [anchors for part in parts if (anchors := find_anchor_words(part))]
            return min(candidates, key=lambda words: (len(words), -min(map(len, words))), default=frozenset())
        case query_tree.OrNode(parts):
            sides = [find_anchor_words(part) for part in parts]
            return frozenset().union(*sides) if all(sides) else frozenset()
        case _:
            return frozenset()


def is_match(node: query_tree.QueryNode, line: SearchableLine) -> bool:
    match node:
        case query_tree.PhraseNode():
            return any(True for _ in _find_phrase(node, line.words))
        case query_tree.AndNode(parts):
            return all(is_match(part, line) for part in parts)
        case query_tree.OrNode(parts):
            return any(is_match(part, line) for part in parts)
        case query_tree.NotNode(part):
            return not is_match(part, line)
        case _:
            return _is_condition_met(node, line)


def _is_condition_met(condition: query_tree.QueryNode, line: SearchableLine) -> bool:
    """Return True if the line meets a filter on pane, time, source, agent or role."""
    match condition:
        case query_tree.PanesNode(panes):
            return line.pane in panes
        case query_tree.EventLinesNode(lines):
            return (line.pane, tuple(line.words)) in lines
        case query_tree.TimeRangeNode(since, until):
            last = max(line.at, line.until)
            return (since is None or last >= since) and (until is None or line.at <= until)
        case query_tree.SourceNode(source):
            return line.source == source
        case query_tree.AgentNode(agent, panes):
            return line.agent == agent if line.source == "transcript" else line.pane in panes
        case query_tree.RoleNode(role):
            return line.role == role
        case _:
            return False


def find_spans(node: query_tree.QueryNode, text: str, words: list[WordSpan]) -> CharacterSpans:
    """Return the character spans of the query's phrases in the text, in order and with overlapping spans merged."""
    names = [word for _, _, word in words]
    spans = sorted(
        (words[first][0], words[last][1])
        for phrase in query_tree.find_wanted_phrases(node)
        for first, last in _find_phrase(phrase, names)
    )
    data = text.encode("utf-8", "replace")
    return tuple((_count_characters(data, start), _count_characters(data, end)) for start, end in _merge_spans(spans))


def _find_phrase(phrase: query_tree.PhraseNode, words: list[str]) -> Iterator[tuple[int, int]]:
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
