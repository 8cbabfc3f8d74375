"""A Question to the history, and what was found."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.transcript_message import MessageRole
from termvisor.model.ids import PaneId, ScreenId
from termvisor.model.terminal.output import Line

SearchRanking = Literal["recency", "relevance"]


class SearchQuery(Struct, frozen=True, kw_only=True):
    """``text`` may hold words, "phrases", prefix*, AND OR NOT and filters such as ``pane:7 session:work since:10m``.

    The fields are what the caller set beside the text; both apply.
    """

    text: str
    pane: PaneId | None = None
    since: int | None = None
    until: int | None = None
    rank: SearchRanking = "recency"
    limit: int = 20
    context: int = 0


class SearchHit(Struct, frozen=True, kw_only=True):
    """``spans`` are the (start, end) character positions in the line's text that matched.

    A row that a repainting screen showed has no line number: it stood in ``screen``, first at ``line.at`` and last at
    ``last_at``; what is ``before`` and ``after`` it are the rows around it there.
    """

    line: Line
    spans: tuple[tuple[int, int], ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    screen: ScreenId | None = None
    last_at: int | None = None
    utterance: int | None = None
    """What was said, of which this is a line; its number counts the lines of that."""
    role: MessageRole | None = None
    agent: str | None = None


class SearchResult(Struct, frozen=True, kw_only=True):
    """``is_complete`` is false when the search stopped looking before it had seen every candidate."""

    hits: tuple[SearchHit, ...]
    is_complete: bool = True
