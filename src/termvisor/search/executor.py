"""Run a search: find candidates in the full-text index, then match each of their lines exactly.

In: a SearchQuery. Out: a SearchResult. There are three pools: blocks of printed lines, screen rows, and messages of
agent transcripts. Reading and matching run in slices in the store's reader thread, so that a long search does not
block other readers. Lines that are still on a pane's screen are not stored; they are searched in memory.

Invariant: a name in a filter that is neither known to the caller nor stored raises an error. Without that, a misspelled
filter would look like a search without hits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from heapq import merge
from itertools import islice
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import BadRequest, NotFound
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.search_query import SearchHit, SearchQuery, SearchResult
from termvisor.search import query_tree
from termvisor.search.parser import parse_query
from termvisor.search.query_tree import LinePrefilter, SearchableLine, find_spans, is_match
from termvisor.store import Store
from termvisor.store.sqlite.database import get_tokenizer
from termvisor.store.tables.indexed_table import IdRange
from termvisor.store.tables.output import StoredBlock
from termvisor.store.tables.search_queries import SearchPool, SearchReader

MAX_CANDIDATES = 20_000
"""Maximum number of blocks or rows that one search examines in each pool."""
SLICE_CANDIDATES = 256
MAX_RANKED = 2000
"""Maximum number of matches in each pool, the newest ones, that are ranked by relevance."""
MAX_EVENTS = 500
"""Maximum number of events, the newest ones, that an event, rule or severity filter resolves to."""
KnownNames = Mapping[str, Iterable[str]]
"""Valid names by filter, in addition to the stored ones: an agent that has not run yet, a rule that never matched."""


class UnstoredLines(Protocol):
    """The lines of panes that are not stored yet, in memory."""

    def find_unstored(self, can_match: Callable[[str], bool]) -> list[list[Line]]:
        """Return the lines of each pane whose joined text may match."""
        ...


class _NoUnstoredLines:
    def find_unstored(self, can_match: Callable[[str], bool]) -> list[list[Line]]:
        return []


class _SearchPlan(Struct, frozen=True):
    node: query_tree.QueryNode
    index_query: str
    spans: dict[SearchPool, list[IdRange]]
    searches_stream: bool


async def search(
    store: Store, query: SearchQuery, now: int, unstored_lines: UnstoredLines | None = None
) -> SearchResult:
    """Return the matching lines, newest first, or those of the best blocks first with ``rank="relevance"``.

    Raises BadRequest if the query is malformed.
    """
    plan = await store.read(lambda reader: _build_plan(reader, query, now))
    # Memory first: a line that is stored during the search is then found twice rather than not at all.
    unstored = _UnstoredText(plan, unstored_lines or _NoUnstoredLines())
    # One more hit than requested, to find out whether there are more.
    limit = query.limit + 1
    if query.rank == "recency":
        result = await _search_newest(store, plan, limit)
    else:
        result = await store.read(lambda reader: _rank_hits(reader, plan, limit))
    result = unstored.merge_into(result, query)
    if not query.context:
        return result
    hits = await store.read(
        lambda reader: tuple(
            unstored.add_context(_add_context(reader, hit, query.context), query.context) for hit in result.hits
        )
    )
    return replace(result, hits=hits)


def find_start_time(query: SearchQuery, now: int) -> int | None:
    """Return the time before which no text of this query ends; None without limit. Raises BadRequest."""
    return query_tree.find_time_range(_parse(query, now)).since


def _parse(query: SearchQuery, now: int) -> query_tree.QueryNode:
    parts = [parse_query(query.text, now, get_tokenizer()), query_tree.TimeRangeNode(query.since, query.until)]
    if query.pane is not None:
        parts.append(query_tree.PanesNode(frozenset({query.pane})))
    return query_tree.AndNode(tuple(parts))


class _UnstoredText:
    """The unstored lines of the panes that may match, and the hits in them, newest first."""

    def __init__(self, plan: _SearchPlan, source: UnstoredLines):
        matcher = _BlockMatcher(plan.node)
        found = source.find_unstored(matcher.can_match) if plan.searches_stream else []
        self._lines = {lines[0].pane: lines for lines in found if lines}
        hits = [
            hit for lines in self._lines.values() for line in lines for hit in matcher.find_hits(_build_block(line))
        ]
        self._hits = sorted(hits, key=lambda hit: (-hit.line.at, -hit.line.number))

    def merge_into(self, result: SearchResult, query: SearchQuery) -> SearchResult:
        """Add the hits to those in the store; with ``rank="relevance"`` they come first."""
        stored = [hit for hit in result.hits if hit.screen is not None or hit.role or not self._is_unstored(hit.line)]
        hits = [*self._hits, *stored]
        if query.rank == "recency":
            hits = list(merge(self._hits, stored, key=lambda hit: -hit.line.at))
        is_complete = result.is_complete and len(hits) <= query.limit
        return replace(result, hits=tuple(hits[: query.limit]), is_complete=is_complete)

    def add_context(self, hit: SearchHit, count: int) -> SearchHit:
        """Add the unstored lines around a printed line to its context."""
        lines = self._lines.get(hit.line.pane)
        if lines is None or hit.screen is not None or hit.role:
            return hit
        number = hit.line.number
        before = [line.text for line in lines if number - count <= line.number < number]
        after = [line.text for line in lines if number < line.number <= number + count]
        return replace(hit, before=(*hit.before, *before)[-count:], after=(*hit.after, *after)[:count])

    def _is_unstored(self, line: Line) -> bool:
        return line.pane in self._lines and line.number >= self._lines[line.pane][0].number


def _build_block(line: Line) -> StoredBlock:
    return StoredBlock(0, line.pane, line.epoch, line.number, 1, line.at, line.at, line.source, line.text)


def _build_plan(reader: SearchReader, query: SearchQuery, now: int) -> _SearchPlan:
    node = resolve_names(_parse(query, now), reader, query.known_names)
    searches_stream = "stream" in query_tree.find_sources(node)
    spans = _find_id_spans(reader, node)
    return _SearchPlan(node, query_tree.build_index_query(node) or "", spans, searches_stream)


def _find_id_spans(reader: SearchReader, node: query_tree.QueryNode) -> dict[SearchPool, list[IdRange]]:
    """Return the id ranges to search. Screen text is in the sightings and in the first blocks of epochs."""
    time, sources = query_tree.find_time_range(node), query_tree.find_sources(node)
    spans: dict[SearchPool, list[IdRange]] = {}
    if "stream" in sources:
        spans["block"] = reader.list_id_ranges("block", time.since, time.until)
    elif "screen" in sources:
        spans["block"] = reader.list_screen_id_ranges()
    if "screen" in sources:
        spans["sighting"] = reader.list_id_ranges("sighting", time.since, time.until)
    if "transcript" in sources:
        spans["utterance"] = reader.list_id_ranges("utterance", time.since, time.until)
    return spans


class _SearchSlice(Struct, frozen=True):
    hits: list[SearchHit]
    examined: int
    remaining_spans: list[IdRange]


async def _search_newest(store: Store, plan: _SearchPlan, limit: int) -> SearchResult:
    results = [await _search_newest_in_pool(store, plan, pool, limit) for pool in plan.spans]
    by_time = merge(*(result.hits for result in results), key=lambda hit: -hit.line.at)
    return SearchResult(hits=tuple(islice(by_time, limit)), is_complete=all(result.is_complete for result in results))


async def _search_newest_in_pool(store: Store, plan: _SearchPlan, pool: SearchPool, limit: int) -> SearchResult:
    hits: list[SearchHit] = []
    examined, spans = 0, plan.spans[pool]
    while spans and len(hits) < limit:
        if examined >= MAX_CANDIDATES:
            return SearchResult(hits=tuple(hits), is_complete=False)
        slice_ = await store.read(partial(_search_slice, plan=plan, todo=(pool, spans), limit=limit - len(hits)))
        hits += slice_.hits
        examined, spans = examined + slice_.examined, slice_.remaining_spans
    return SearchResult(hits=tuple(hits))


def _search_slice(
    reader: SearchReader, plan: _SearchPlan, todo: tuple[SearchPool, list[IdRange]], limit: int
) -> _SearchSlice:
    matcher = _BlockMatcher(plan.node)
    hits: list[SearchHit] = []
    examined = 0
    pool, spans = todo
    for index, (first, last) in enumerate(spans):
        for block in reader.iterate_newest(pool, plan.index_query, (first, last)):
            examined += 1
            hits += matcher.find_hits(block)
            if len(hits) >= limit or examined >= SLICE_CANDIDATES:
                return _SearchSlice(hits[:limit], examined, [(first, block.id - 1), *spans[index + 1 :]])
    return _SearchSlice(hits, examined, [])


def _rank_hits(reader: SearchReader, plan: _SearchPlan, limit: int) -> SearchResult:
    scored = {pool: _score_blocks(reader, plan, pool) for pool in plan.spans}
    ranked = sorted((score, -block_id, pool) for pool, blocks in scored.items() for score, block_id in blocks)
    matcher = _BlockMatcher(plan.node)
    hits: list[SearchHit] = []
    for _, negative_id, pool in ranked:
        if len(hits) >= limit:
            break
        hits += sorted(matcher.find_hits(reader.read_block(pool, -negative_id)), key=lambda hit: -len(hit.spans))
    is_complete = all(len(blocks) < MAX_RANKED for blocks in scored.values())
    return SearchResult(hits=tuple(hits[:limit]), is_complete=is_complete)


def _score_blocks(reader: SearchReader, plan: _SearchPlan, pool: SearchPool) -> list[tuple[float, int]]:
    scored: list[tuple[float, int]] = []
    for span in plan.spans[pool]:
        scored += reader.list_best(pool, plan.index_query, span, MAX_RANKED - len(scored))
    return scored


class _BlockMatcher:
    def __init__(self, node: query_tree.QueryNode):
        self._node, self._prefilter, self._split = node, LinePrefilter(node), get_tokenizer()

    def can_match(self, text: str) -> bool:
        """Return False if no line of the text can match."""
        return bool(self._prefilter.select_lines(text))

    def find_hits(self, block: StoredBlock) -> Iterator[SearchHit]:
        """Yield the matching lines of a block, newest first."""
        last_at = None if block.screen is None else block.until
        for index, text in reversed(self._prefilter.select_lines(block.text)):
            words = self._split(text)
            names = [word for _, _, word in words]
            at = block.estimate_time(index)
            candidate = SearchableLine(names, block.pane, at, block.source, last_at or 0, block.role, block.agent)
            if is_match(self._node, candidate):
                line, spans = block.build_line(index, text), find_spans(self._node, text, words)
                hit = SearchHit(line=line, spans=spans, screen=block.screen, last_at=last_at)
                yield replace(hit, utterance=block.id, role=block.role, agent=block.agent) if block.role else hit


def _add_context(reader: SearchReader, hit: SearchHit, count: int) -> SearchHit:
    if hit.utterance is not None:
        before, after = reader.read_message_lines_around(hit.utterance, hit.line.number, count)
    elif hit.screen is None:
        before, after = reader.read_lines_around(hit.line, count)
    else:
        before, after = reader.read_rows_around(hit.screen, hit.line.text, count)
    return replace(hit, before=before, after=after)


def resolve_names(node: query_tree.QueryNode, reader: SearchReader, known: KnownNames) -> query_tree.QueryNode:
    """Return the tree with names replaced by pane ids, and detection filters by the lines of their events.

    Raises NotFound for an unknown pane, BadRequest with the closest names for any other unknown name.
    """
    match node:
        case query_tree.PanesNode(panes):
            _check_panes(panes, reader)
            return node
        case query_tree.NamedPanesNode(kind, name):
            found = reader.find_panes_by(kind, name)
            if not found:
                _check_name(kind, name, reader, known)
            return query_tree.AgentNode(name, found) if kind == "agent" else query_tree.PanesNode(found)
        case query_tree.DetectionNode(kind, pattern):
            detected = reader.find_detected_lines(kind, pattern, MAX_EVENTS)
            if not detected and kind != "severity":
                _check_name(kind, pattern, reader, known)
            return _build_event_lines(detected)
        case query_tree.NotNode(part):
            return query_tree.NotNode(resolve_names(part, reader, known))
        case query_tree.AndNode(parts):
            return query_tree.AndNode(tuple(resolve_names(part, reader, known) for part in parts))
        case query_tree.OrNode(parts):
            return query_tree.OrNode(tuple(resolve_names(part, reader, known) for part in parts))
        case _:
            return node


def _build_event_lines(detected: Iterable[tuple[PaneId, str]]) -> query_tree.QueryNode:
    split = get_tokenizer()
    lines = ((pane, tuple(word for _, _, word in split(text))) for pane, text in detected)
    return query_tree.EventLinesNode(frozenset((pane, words) for pane, words in lines if words))


def _check_panes(panes: Iterable[PaneId], reader: SearchReader) -> None:
    for pane in panes:
        if not reader.has_pane(pane):
            hint = "`visor list-panes --gone` shows all panes, also closed ones."
            raise NotFound(f"pane {pane} not found", hint=hint)


def _check_name(kind: query_tree.NamedFilter, name: str, reader: SearchReader, known: KnownNames) -> None:
    """Raise BadRequest if no known or stored name matches; the name of an event or rule may be a glob."""
    names = sorted({*known.get(kind, ()), *reader.list_names(kind)})
    if any(fnmatchcase(each, name) for each in names):
        return
    near = find_close_matches(name, names)
    hint = f"Did you mean {kind}:{near[0]}?" if near else f"Known: {', '.join(names[:20]) or 'none yet'}."
    raise BadRequest(f"unknown {kind} {name!r}", hint=hint, details={"nearest": near})
