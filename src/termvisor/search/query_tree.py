"""The query tree, and the index query, time range and sources derived from it."""

from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct

from termvisor.model.agent.session import MessageRole
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource

NamedFilter = Literal["session", "target", "agent", "event", "rule"]
"""Filters whose value is a name."""


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
