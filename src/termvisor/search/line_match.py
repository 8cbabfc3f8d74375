"""Whether a query holds for one line, and where: words are told apart exactly as the index does it."""

import re
from collections.abc import Iterator

from msgspec import Struct

from termvisor.model.agent.transcript_message import MessageRole
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource
from termvisor.search.query_tree import (
    AgentNode,
    AndNode,
    EventLinesNode,
    NotNode,
    OrNode,
    PanesNode,
    PhraseNode,
    QueryNode,
    RoleNode,
    SourceNode,
    TimeRangeNode,
    find_wanted_phrases,
)

WordSpan = tuple[int, int, str]
CharacterSpans = tuple[tuple[int, int], ...]


class SearchableLine(Struct, frozen=True):
    """A line as a query sees it. A row of a screen was there for a while, a line was printed at one time."""

    words: list[str]
    pane: PaneId
    at: int
    source: TextSource
    until: int = 0
    role: MessageRole | None = None
    agent: str = ""


class LinePrefilter:
    """Picks the lines of a text that a query may hold for, without splitting them into words."""

    def __init__(self, node: QueryNode):
        known = sorted(find_anchor_words(node))
        self._pattern = re.compile("|".join(re.escape(word) for word in known))
        self._has_anchors = bool(known)
        self._required_words = sorted(find_required_words(node) - frozenset(known))

    def select_lines(self, text: str) -> list[tuple[int, str]]:
        """The lines that may fit, with their place in the text. Lines beyond ASCII always may."""
        if not self._has_anchors:
            return list(enumerate(text.split("\n")))
        if text.isascii():
            return list(self._select_ascii_lines(text, text.lower()))
        lines = enumerate(text.split("\n"))
        return [(index, line) for index, line in lines if not line.isascii() or self._pattern.search(line.lower())]

    def _select_ascii_lines(self, text: str, lower: str) -> Iterator[tuple[int, str]]:
        at = index = 0
        while found := self._pattern.search(lower, at):
            index += lower.count("\n", at, found.start())
            first, end = lower.rfind("\n", 0, found.start()) + 1, lower.find("\n", found.end())
            at = len(lower) if end < 0 else end
            if all(lower.find(word, first, at) >= 0 for word in self._required_words):
                yield index, text[first:at]


def find_required_words(node: QueryNode) -> frozenset[str]:
    """Words that stand in every fitting line, each perhaps as a part of a longer one."""
    match node:
        case PhraseNode(words):
            return frozenset(words)
        case AndNode(parts):
            return frozenset().union(*map(find_required_words, parts))
        case _:
            return frozenset()


def find_anchor_words(node: QueryNode) -> frozenset[str]:
    """Words of which a fitting line holds at least one; none when the query does not say."""
    match node:
        case PhraseNode(words):
            return frozenset({max(words, key=len)})
        case EventLinesNode(lines):
            return frozenset(max(words, key=len) for _, words in lines)
        case AndNode(parts):
            known = [found for part in parts if (found := find_anchor_words(part))]
            return min(known, key=lambda words: (len(words), -min(map(len, words))), default=frozenset())
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
    """Whether it stands where and when it is looked for, and was said by whom."""
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
    """Where the wanted phrases stand in the text, in characters, in order, joined where they overlap."""
    names = [word for _, _, word in words]
    found = sorted(
        (words[first][0], words[last][1])
        for phrase in find_wanted_phrases(node)
        for first, last in _find_phrase(phrase, names)
    )
    data = text.encode("utf-8", "replace")
    return tuple((_count_characters(data, start), _count_characters(data, end)) for start, end in _merge_spans(found))


def _find_phrase(phrase: PhraseNode, words: list[str]) -> Iterator[tuple[int, int]]:
    """The first and last word of each place where the phrase stands."""
    *head, tail = phrase.words
    for last in range(len(head), len(words)):
        fits = words[last].startswith(tail) if phrase.is_prefix else words[last] == tail
        if fits and words[last - len(head) : last] == head:
            yield last - len(head), last


def _merge_spans(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _count_characters(data: bytes, offset: int) -> int:
    return len(data[:offset].decode("utf-8", "replace"))
