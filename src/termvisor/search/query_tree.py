"""What a query means: a tree of words and conditions that holds for a line or does not."""

from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct

from termvisor.model.agent.transcript_message import MessageRole
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource


class PhraseNode(Struct, frozen=True):
    """Words that follow each other, as the index knows them; with ``is_prefix`` the last one may go on."""

    words: tuple[str, ...]
    is_prefix: bool = False


class PanesNode(Struct, frozen=True):
    panes: frozenset[PaneId]


class NamedPanesNode(Struct, frozen=True):
    """Panes of a session, target or agent, before it is known which they are."""

    kind: Literal["session", "target", "agent"]
    name: str


class AgentNode(Struct, frozen=True):
    """What was said to an agent or by it; all else in the panes in which it lives or lived."""

    agent: str
    panes: frozenset[PaneId]


class DetectionNode(Struct, frozen=True):
    """Where an event of this type, of this rule, or at least so severe was found, before it is known where that was.

    ``what`` may be a glob."""

    kind: Literal["event", "rule", "severity"]
    pattern: str


class EventLinesNode(Struct, frozen=True):
    """The lines that events were found in, each by its pane and its words."""

    lines: frozenset[tuple[PaneId, tuple[str, ...]]]


class RoleNode(Struct, frozen=True):
    """Said by a person or by an agent."""

    role: MessageRole


class TimeRangeNode(Struct, frozen=True):
    """From ``since`` to ``until``, both included."""

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
    """Whether a line must hold a word of the query, or of an event, to be found by it."""
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
    """The phrases that make a line fit, not those that must be absent."""
    match node:
        case PhraseNode():
            yield node
        case AndNode(parts) | OrNode(parts):
            for part in parts:
                yield from find_wanted_phrases(part)
        case _:
            return


def find_time_range(node: QueryNode) -> TimeRangeNode:
    """The time outside of which nothing can be found."""
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
    """Where something can be found at all."""
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
    """A query of the index that finds at least every block with a fitting line; None when it cannot say.

    What must be absent is left to the lines: a word may be absent from one line and stand in its neighbour.
    """
    match node:
        case PhraseNode(words, is_prefix):
            return f'text : "{" ".join(words)}"' + (" *" if is_prefix else "")
        case EventLinesNode(lines):
            return build_index_query(
                OrNode(tuple(map(PhraseNode, sorted({words for _, words in lines}))) or (_NO_PANES,))
            )
        case PanesNode(panes) | AgentNode(_, panes):
            # No pane has the number 0: without panes nothing is found.
            return "pane : (" + " OR ".join(f'"{pane}"' for pane in sorted(panes) or [PaneId(0)]) + ")"
        case AndNode(parts):
            known = [query for part in parts if (query := build_index_query(part)) is not None]
            return f"({' AND '.join(known)})" if known else None
        case OrNode(parts):
            sides = [query for part in parts if (query := build_index_query(part)) is not None]
            return f"({' OR '.join(sides)})" if len(sides) == len(parts) else None
        case _:
            return None
