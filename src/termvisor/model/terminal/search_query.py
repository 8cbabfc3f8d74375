"""Search queries and results."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.session import MessageRole
from termvisor.model.ids import PaneId, ScreenId
from termvisor.model.terminal.output import Line

SearchRanking = Literal["recency", "relevance"]


class SearchQuery(Struct, frozen=True, kw_only=True):
    """``text`` may contain words, "phrases", prefix*, AND OR NOT and filters such as ``pane:7 session:work since:10m``.

    The other fields are filters set by options. Both kinds of filters apply.
    """

    text: str
    pane: PaneId | None = None
    since: int | None = None
    until: int | None = None
    rank: SearchRanking = "recency"
    limit: int = 20
    context: int = 0
    known_names: dict[str, tuple[str, ...]] = {}
    """Names that the filters ``agent:``, ``rule:`` and ``event:`` accept although nothing stored has them yet."""


class SearchHit(Struct, frozen=True, kw_only=True):
    """``spans`` are the (start, end) character positions in the line's text that matched.

    A row of a full-screen program has no line number: ``screen`` is the first screen that showed it, at ``line.at``,
    and ``last_at`` is when it was last visible. ``before`` and ``after`` are the rows around it on that screen.
    """

    line: Line
    spans: tuple[tuple[int, int], ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    screen: ScreenId | None = None
    last_at: int | None = None
    utterance: int | None = None
    """The transcript message that contains this line. The line number counts lines within the message."""
    role: MessageRole | None = None
    agent: str | None = None


class SearchResult(Struct, frozen=True, kw_only=True):
    """``is_complete`` is false if the search stopped before checking every candidate."""

    hits: tuple[SearchHit, ...]
    is_complete: bool = True
