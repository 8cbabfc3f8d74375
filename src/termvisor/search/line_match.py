"""Whether a query holds for one line, and where: words are told apart exactly as the index does it."""

import re
from collections.abc import Iterator

from msgspec import Struct

from termvisor.model.agent.transcript_message import Role
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource
from termvisor.search.query_tree import And, AtEvents, By, From, InPanes, Node, Not, OfAgent, Or, Phrase, Within, wanted

Word = tuple[int, int, str]
Spans = tuple[tuple[int, int], ...]


class Seen(Struct, frozen=True):
    """A line as a query sees it. A row of a screen was there for a while, a line was printed at one time."""

    words: list[str]
    pane: PaneId
    at: int
    source: TextSource
    until: int = 0
    role: Role | None = None
    agent: str = ""


class Sieve:
    """Picks the lines of a text that a query may hold for, without splitting them into words."""

    def __init__(self, node: Node):
        known = sorted(anchors(node))
        self._pattern = re.compile("|".join(re.escape(word) for word in known))
        self._knows = bool(known)
        self._needed = sorted(needed(node) - frozenset(known))

    def lines(self, text: str) -> list[tuple[int, str]]:
        """The lines that may fit, with their place in the text. Lines beyond ASCII always may."""
        if not self._knows:
            return list(enumerate(text.split("\n")))
        if text.isascii():
            return list(self._ascii(text, text.lower()))
        lines = enumerate(text.split("\n"))
        return [(index, line) for index, line in lines if not line.isascii() or self._pattern.search(line.lower())]

    def _ascii(self, text: str, lower: str) -> Iterator[tuple[int, str]]:
        at = index = 0
        while found := self._pattern.search(lower, at):
            index += lower.count("\n", at, found.start())
            first, end = lower.rfind("\n", 0, found.start()) + 1, lower.find("\n", found.end())
            at = len(lower) if end < 0 else end
            if all(lower.find(word, first, at) >= 0 for word in self._needed):
                yield index, text[first:at]


def needed(node: Node) -> frozenset[str]:
    """Words that stand in every fitting line, each perhaps as a part of a longer one."""
    match node:
        case Phrase(words):
            return frozenset(words)
        case And(parts):
            return frozenset().union(*map(needed, parts))
        case _:
            return frozenset()


def anchors(node: Node) -> frozenset[str]:
    """Words of which a fitting line holds at least one; none when the query does not say."""
    match node:
        case Phrase(words):
            return frozenset({max(words, key=len)})
        case AtEvents(lines):
            return frozenset(max(words, key=len) for _, words in lines)
        case And(parts):
            known = [found for part in parts if (found := anchors(part))]
            return min(known, key=lambda words: (len(words), -min(map(len, words))), default=frozenset())
        case Or(parts):
            sides = [anchors(part) for part in parts]
            return frozenset().union(*sides) if all(sides) else frozenset()
        case _:
            return frozenset()


def holds(node: Node, line: Seen) -> bool:
    match node:
        case Phrase():
            return any(True for _ in _places(node, line.words))
        case And(parts):
            return all(holds(part, line) for part in parts)
        case Or(parts):
            return any(holds(part, line) for part in parts)
        case Not(part):
            return not holds(part, line)
        case _:
            return _stands(node, line)


def _stands(condition: Node, line: Seen) -> bool:
    """Whether it stands where and when it is looked for, and was said by whom."""
    match condition:
        case InPanes(panes):
            return line.pane in panes
        case AtEvents(lines):
            return (line.pane, tuple(line.words)) in lines
        case Within(since, until):
            last = max(line.at, line.until)
            return (since is None or last >= since) and (until is None or line.at <= until)
        case From(source):
            return line.source == source
        case OfAgent(agent, panes):
            return line.agent == agent if line.source == "transcript" else line.pane in panes
        case By(role):
            return line.role == role
        case _:
            return False


def spans(node: Node, text: str, words: list[Word]) -> Spans:
    """Where the wanted phrases stand in the text, in characters, in order, joined where they overlap."""
    names = [word for _, _, word in words]
    found = sorted(
        (words[first][0], words[last][1]) for phrase in wanted(node) for first, last in _places(phrase, names)
    )
    data = text.encode("utf-8", "replace")
    return tuple((_characters(data, start), _characters(data, end)) for start, end in _joined(found))


def _places(phrase: Phrase, words: list[str]) -> Iterator[tuple[int, int]]:
    """The first and last word of each place where the phrase stands."""
    *head, tail = phrase.words
    for last in range(len(head), len(words)):
        fits = words[last].startswith(tail) if phrase.is_prefix else words[last] == tail
        if fits and words[last - len(head) : last] == head:
            yield last - len(head), last


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _characters(data: bytes, offset: int) -> int:
    return len(data[:offset].decode("utf-8", "replace"))
