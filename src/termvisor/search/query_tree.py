"""What a query means: a tree of words and conditions that holds for a line or does not."""

from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct

from termvisor.model.agent.transcript_message import Role
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import TextSource


class Phrase(Struct, frozen=True):
    """Words that follow each other, as the index knows them; with ``is_prefix`` the last one may go on."""

    words: tuple[str, ...]
    is_prefix: bool = False


class InPanes(Struct, frozen=True):
    panes: frozenset[PaneId]


class Named(Struct, frozen=True):
    """Panes of a session, target or agent, before it is known which they are."""

    kind: Literal["session", "target", "agent"]
    name: str


class OfAgent(Struct, frozen=True):
    """What was said to an agent or by it; all else in the panes in which it lives or lived."""

    agent: str
    panes: frozenset[PaneId]


class Detected(Struct, frozen=True):
    """Where an event of this type, of this rule, or at least so severe was found, before it is known where that was.

    ``what`` may be a glob."""

    kind: Literal["event", "rule", "severity"]
    what: str


class AtEvents(Struct, frozen=True):
    """The lines that events were found in, each by its pane and its words."""

    lines: frozenset[tuple[PaneId, tuple[str, ...]]]


class By(Struct, frozen=True):
    """Said by a person or by an agent."""

    role: Role


class Within(Struct, frozen=True):
    """From ``since`` to ``until``, both included."""

    since: int | None = None
    until: int | None = None


class From(Struct, frozen=True):
    source: TextSource


class Not(Struct, frozen=True):
    part: "Node"


class And(Struct, frozen=True):
    parts: "tuple[Node, ...]"


class Or(Struct, frozen=True):
    parts: "tuple[Node, ...]"


Node = Phrase | InPanes | Named | OfAgent | Detected | AtEvents | By | Within | From | Not | And | Or


_NOWHERE = InPanes(frozenset())


def has_words(node: Node) -> bool:
    """Whether a line must hold a word of the query, or of an event, to be found by it."""
    match node:
        case Phrase() | Detected() | AtEvents():
            return True
        case And(parts):
            return any(has_words(part) for part in parts)
        case Or(parts):
            return all(has_words(part) for part in parts)
        case _:
            return False


def wanted(node: Node) -> Iterator[Phrase]:
    """The phrases that make a line fit, not those that must be absent."""
    match node:
        case Phrase():
            yield node
        case And(parts) | Or(parts):
            for part in parts:
                yield from wanted(part)
        case _:
            return


def bounds(node: Node) -> Within:
    """The time outside of which nothing can be found."""
    match node:
        case Within():
            return node
        case And(parts):
            inner = [bounds(part) for part in parts]
            return Within(
                max((each.since for each in inner if each.since is not None), default=None),
                min((each.until for each in inner if each.until is not None), default=None),
            )
        case _:
            return Within()


_ALL_SOURCES: frozenset[TextSource] = frozenset(get_args(TextSource))


def sources(node: Node) -> frozenset[TextSource]:
    """Where something can be found at all."""
    match node:
        case From(source):
            return frozenset({source})
        case By():
            return frozenset({"transcript"})
        case Not(From(source)):
            return _ALL_SOURCES - {source}
        case And(parts):
            return _ALL_SOURCES.intersection(*map(sources, parts))
        case Or(parts):
            return frozenset().union(*map(sources, parts))
        case _:
            return _ALL_SOURCES


def index_query(node: Node) -> str | None:
    """A query of the index that finds at least every block with a fitting line; None when it cannot say.

    What must be absent is left to the lines: a word may be absent from one line and stand in its neighbour.
    """
    match node:
        case Phrase(words, is_prefix):
            return f'text : "{" ".join(words)}"' + (" *" if is_prefix else "")
        case AtEvents(lines):
            return index_query(Or(tuple(map(Phrase, sorted({words for _, words in lines}))) or (_NOWHERE,)))
        case InPanes(panes) | OfAgent(_, panes):
            # No pane has the number 0: without panes nothing is found.
            return "pane : (" + " OR ".join(f'"{pane}"' for pane in sorted(panes) or [PaneId(0)]) + ")"
        case And(parts):
            known = [query for part in parts if (query := index_query(part)) is not None]
            return f"({' AND '.join(known)})" if known else None
        case Or(parts):
            sides = [query for part in parts if (query := index_query(part)) is not None]
            return f"({' OR '.join(sides)})" if len(sides) == len(parts) else None
        case _:
            return None
