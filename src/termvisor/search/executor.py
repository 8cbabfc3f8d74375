"""Answers a Question: the index names candidates, each line or row of them is judged on its own.

In: a Question. Out: Found. There are three pools: blocks of lines that were printed, rows that screens showed, and what
was said in conversations with agents.
Reading and judging happen in the store's reader thread, in slices, so that a long search holds up nobody else who
reads.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from heapq import merge
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.ids import PaneId
from termvisor.model.terminal.search_query import SearchHit, SearchQuery, SearchResult
from termvisor.search.line_match import LinePrefilter, SearchableLine, find_spans, is_match
from termvisor.search.parser import parse_query
from termvisor.search.query_tree import (
    AgentNode,
    AndNode,
    DetectionNode,
    EventLinesNode,
    NamedPanesNode,
    NotNode,
    OrNode,
    PanesNode,
    QueryNode,
    TimeRangeNode,
    build_index_query,
    find_sources,
    find_time_range,
)
from termvisor.store import Store
from termvisor.store.sqlite.database import get_tokenizer
from termvisor.store.tables.lines import StoredBlock
from termvisor.store.tables.search_queries import IdRange, SearchPool, SearchReader

MAX_CANDIDATES = 20_000
"""Blocks or rows that one search looks at in each pool."""
MAX_EVENTS = 500
"""Of events, the newest so many are looked for."""
SLICE_CANDIDATES = 256
MAX_RANKED = 2000
"""Relevance is judged among this many of the newest matches of each pool."""


class _SearchPlan(Struct, frozen=True):
    node: QueryNode
    index_query: str
    spans: dict[SearchPool, list[IdRange]]


async def search(store: Store, query: SearchQuery, now: int) -> SearchResult:
    """Newest lines first, or with ``rank="relevance"`` those of the best blocks first."""
    plan = await store.read(lambda reading: _build_plan(reading, query, now))
    by_rank = _search_newest if query.rank == "recency" else _search_best
    found = await by_rank(store, plan, query.limit)
    if not query.context:
        return found
    hits = await store.read(lambda reading: tuple(_add_context(reading, hit, query.context) for hit in found.hits))
    return replace(found, hits=hits)


def _build_plan(reading: SearchReader, query: SearchQuery, now: int) -> _SearchPlan:
    parts = [parse_query(query.text, now, get_tokenizer()), TimeRangeNode(query.since, query.until)]
    if query.pane is not None:
        parts.append(PanesNode(frozenset({query.pane})))
    node = _resolve_names(AndNode(tuple(parts)), reading)
    return _SearchPlan(node, build_index_query(node) or "", _find_id_spans(reading, node))


def _find_id_spans(reading: SearchReader, node: QueryNode) -> dict[SearchPool, list[IdRange]]:
    """Where to look: what screens showed lies among the sightings, and in the blocks that epochs began with."""
    time, wanted = find_time_range(node), find_sources(node)
    found: dict[SearchPool, list[IdRange]] = {}
    if "stream" in wanted:
        found["block"] = reading.list_id_ranges("block", time.since, time.until)
    elif "screen" in wanted:
        found["block"] = reading.list_screen_id_ranges()
    if "screen" in wanted:
        found["sighting"] = reading.list_id_ranges("sighting", time.since, time.until)
    if "transcript" in wanted:
        found["utterance"] = reading.list_id_ranges("utterance", time.since, time.until)
    return found


def _resolve_names(node: QueryNode, reading: SearchReader) -> QueryNode:
    """The same tree with numbers of panes and lines of events in place of names."""
    match node:
        case NamedPanesNode("session", name):
            return PanesNode(reading.find_panes_in_session(name))
        case NamedPanesNode("agent", name):
            return AgentNode(name, reading.find_panes_of_agent(name))
        case NamedPanesNode(_, name):
            return PanesNode(reading.find_panes_on_target(name))
        case DetectionNode(kind, what):
            return _build_event_lines(reading.find_detected_lines(kind, what, MAX_EVENTS))
        case NotNode(part):
            return NotNode(_resolve_names(part, reading))
        case AndNode(parts):
            return AndNode(tuple(_resolve_names(part, reading) for part in parts))
        case OrNode(parts):
            return OrNode(tuple(_resolve_names(part, reading) for part in parts))
        case _:
            return node


def _build_event_lines(found: Iterable[tuple[PaneId, str]]) -> QueryNode:
    split = get_tokenizer()
    lines = ((pane, tuple(word for _, _, word in split(text))) for pane, text in found)
    return EventLinesNode(frozenset((pane, words) for pane, words in lines if words))


class _SearchSlice(Struct, frozen=True):
    hits: list[SearchHit]
    examined: int
    remaining_spans: list[IdRange]


async def _search_newest(store: Store, plan: _SearchPlan, limit: int) -> SearchResult:
    found = [await _search_newest_in_pool(store, plan, pool, limit) for pool in plan.spans]
    by_time = merge(*(each.hits for each in found), key=lambda hit: -hit.line.at)
    return SearchResult(hits=tuple(islice(by_time, limit)), is_complete=all(each.is_complete for each in found))


async def _search_newest_in_pool(store: Store, plan: _SearchPlan, pool: SearchPool, limit: int) -> SearchResult:
    hits: list[SearchHit] = []
    looked, rest = 0, plan.spans[pool]
    while rest and len(hits) < limit:
        if looked >= MAX_CANDIDATES:
            return SearchResult(hits=tuple(hits), is_complete=False)
        part = await store.read(partial(_search_slice, plan=plan, todo=(pool, rest), limit=limit - len(hits)))
        hits += part.hits
        looked, rest = looked + part.examined, part.remaining_spans
    return SearchResult(hits=tuple(hits))


def _search_slice(
    reading: SearchReader, plan: _SearchPlan, todo: tuple[SearchPool, list[IdRange]], limit: int
) -> _SearchSlice:
    judge = _BlockMatcher(plan.node)
    hits: list[SearchHit] = []
    looked = 0
    pool, where = todo
    for number, (first, last) in enumerate(where):
        for block in reading.iterate_newest(pool, plan.index_query, (first, last)):
            looked += 1
            hits += judge.find_hits(block)
            if len(hits) >= limit or looked >= SLICE_CANDIDATES:
                return _SearchSlice(hits[:limit], looked, [(first, block.id - 1), *where[number + 1 :]])
    return _SearchSlice(hits, looked, [])


async def _search_best(store: Store, plan: _SearchPlan, limit: int) -> SearchResult:
    return await store.read(lambda reading: _rank_hits(reading, plan, limit))


def _rank_hits(reading: SearchReader, plan: _SearchPlan, limit: int) -> SearchResult:
    scored = {pool: _score_blocks(reading, plan, pool) for pool in plan.spans}
    ranked = sorted((score, -number, pool) for pool, found in scored.items() for score, number in found)
    judge = _BlockMatcher(plan.node)
    hits: list[SearchHit] = []
    for _, number, pool in ranked:
        if len(hits) >= limit:
            break
        hits += sorted(judge.find_hits(reading.read_block(pool, -number)), key=lambda hit: -len(hit.spans))
    return SearchResult(hits=tuple(hits[:limit]), is_complete=all(len(found) < MAX_RANKED for found in scored.values()))


def _score_blocks(reading: SearchReader, plan: _SearchPlan, pool: SearchPool) -> list[tuple[float, int]]:
    scored: list[tuple[float, int]] = []
    for span in plan.spans[pool]:
        scored += reading.list_best(pool, plan.index_query, span, MAX_RANKED - len(scored))
    return scored


class _BlockMatcher:
    def __init__(self, node: QueryNode):
        self._node, self._prefilter, self._split = node, LinePrefilter(node), get_tokenizer()

    def find_hits(self, block: StoredBlock) -> Iterator[SearchHit]:
        """The fitting lines of a block, newest first."""
        last_at = None if block.screen is None else block.until
        for index, text in reversed(self._prefilter.select_lines(block.text)):
            words = self._split(text)
            names = [word for _, _, word in words]
            said = (block.role, block.agent)
            if is_match(
                self._node,
                SearchableLine(names, block.pane, block.estimate_time(index), block.source, last_at or 0, *said),
            ):
                line, where = block.build_line(index, text), find_spans(self._node, text, words)
                hit = SearchHit(line=line, spans=where, screen=block.screen, last_at=last_at)
                yield replace(hit, utterance=block.id, role=block.role, agent=block.agent) if block.role else hit


def _add_context(reading: SearchReader, hit: SearchHit, count: int) -> SearchHit:
    if hit.utterance is not None:
        before, after = reading.read_message_lines_around(hit.utterance, hit.line.number, count)
    elif hit.screen is None:
        before, after = reading.read_lines_around(hit.line, count)
    else:
        before, after = reading.read_rows_around(hit.screen, hit.line.text, count)
    return replace(hit, before=before, after=after)
