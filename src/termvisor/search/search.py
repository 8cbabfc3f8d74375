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
from termvisor.model.terminal.search_query import Found, Hit, Question
from termvisor.search.line_match import Seen, Sieve, holds, spans
from termvisor.search.parser import parse
from termvisor.search.query_tree import (
    And,
    AtEvents,
    Detected,
    InPanes,
    Named,
    Node,
    Not,
    OfAgent,
    Or,
    Within,
    bounds,
    index_query,
    sources,
)
from termvisor.store import Store
from termvisor.store.sqlite.database import tokeniser
from termvisor.store.tables.lines import StoredBlock
from termvisor.store.tables.search_queries import Pool, Reading, Span

MOST_CANDIDATES = 20_000
"""Blocks or rows that one search looks at in each pool."""
MOST_EVENTS = 500
"""Of events, the newest so many are looked for."""
SLICE = 256
POOL = 2000
"""Relevance is judged among this many of the newest matches of each pool."""


class _Plan(Struct, frozen=True):
    node: Node
    match: str
    spans: dict[Pool, list[Span]]


async def search(store: Store, question: Question, now: int) -> Found:
    """Newest lines first, or with ``rank="relevance"`` those of the best blocks first."""
    plan = await store.read(lambda reading: _plan(reading, question, now))
    by_rank = _newest if question.rank == "recency" else _best
    found = await by_rank(store, plan, question.limit)
    if not question.context:
        return found
    hits = await store.read(lambda reading: tuple(_with_context(reading, hit, question.context) for hit in found.hits))
    return replace(found, hits=hits)


def _plan(reading: Reading, question: Question, now: int) -> _Plan:
    parts = [parse(question.text, now, tokeniser()), Within(question.since, question.until)]
    if question.pane is not None:
        parts.append(InPanes(frozenset({question.pane})))
    node = _resolved(And(tuple(parts)), reading)
    return _Plan(node, index_query(node) or "", _spans(reading, node))


def _spans(reading: Reading, node: Node) -> dict[Pool, list[Span]]:
    """Where to look: what screens showed lies among the sightings, and in the blocks that epochs began with."""
    time, wanted = bounds(node), sources(node)
    found: dict[Pool, list[Span]] = {}
    if "stream" in wanted:
        found["block"] = reading.spans("block", time.since, time.until)
    elif "screen" in wanted:
        found["block"] = reading.screen_spans()
    if "screen" in wanted:
        found["sighting"] = reading.spans("sighting", time.since, time.until)
    if "transcript" in wanted:
        found["utterance"] = reading.spans("utterance", time.since, time.until)
    return found


def _resolved(node: Node, reading: Reading) -> Node:
    """The same tree with numbers of panes and lines of events in place of names."""
    match node:
        case Named("session", name):
            return InPanes(reading.panes_in_session(name))
        case Named("agent", name):
            return OfAgent(name, reading.panes_of_agent(name))
        case Named(_, name):
            return InPanes(reading.panes_on_target(name))
        case Detected(kind, what):
            return _at_events(reading.detected(kind, what, MOST_EVENTS))
        case Not(part):
            return Not(_resolved(part, reading))
        case And(parts):
            return And(tuple(_resolved(part, reading) for part in parts))
        case Or(parts):
            return Or(tuple(_resolved(part, reading) for part in parts))
        case _:
            return node


def _at_events(found: Iterable[tuple[PaneId, str]]) -> Node:
    split = tokeniser()
    lines = ((pane, tuple(word for _, _, word in split(text))) for pane, text in found)
    return AtEvents(frozenset((pane, words) for pane, words in lines if words))


class _Slice(Struct, frozen=True):
    hits: list[Hit]
    looked: int
    rest: list[Span]


async def _newest(store: Store, plan: _Plan, limit: int) -> Found:
    found = [await _newest_of(store, plan, pool, limit) for pool in plan.spans]
    by_time = merge(*(each.hits for each in found), key=lambda hit: -hit.line.at)
    return Found(hits=tuple(islice(by_time, limit)), is_complete=all(each.is_complete for each in found))


async def _newest_of(store: Store, plan: _Plan, pool: Pool, limit: int) -> Found:
    hits: list[Hit] = []
    looked, rest = 0, plan.spans[pool]
    while rest and len(hits) < limit:
        if looked >= MOST_CANDIDATES:
            return Found(hits=tuple(hits), is_complete=False)
        part = await store.read(partial(_slice, plan=plan, todo=(pool, rest), limit=limit - len(hits)))
        hits += part.hits
        looked, rest = looked + part.looked, part.rest
    return Found(hits=tuple(hits))


def _slice(reading: Reading, plan: _Plan, todo: tuple[Pool, list[Span]], limit: int) -> _Slice:
    judge = _Judge(plan.node)
    hits: list[Hit] = []
    looked = 0
    pool, where = todo
    for number, (first, last) in enumerate(where):
        for block in reading.newest(pool, plan.match, (first, last)):
            looked += 1
            hits += judge.hits(block)
            if len(hits) >= limit or looked >= SLICE:
                return _Slice(hits[:limit], looked, [(first, block.id - 1), *where[number + 1 :]])
    return _Slice(hits, looked, [])


async def _best(store: Store, plan: _Plan, limit: int) -> Found:
    return await store.read(lambda reading: _ranked(reading, plan, limit))


def _ranked(reading: Reading, plan: _Plan, limit: int) -> Found:
    scored = {pool: _scored(reading, plan, pool) for pool in plan.spans}
    ranked = sorted((score, -number, pool) for pool, found in scored.items() for score, number in found)
    judge = _Judge(plan.node)
    hits: list[Hit] = []
    for _, number, pool in ranked:
        if len(hits) >= limit:
            break
        hits += sorted(judge.hits(reading.one(pool, -number)), key=lambda hit: -len(hit.spans))
    return Found(hits=tuple(hits[:limit]), is_complete=all(len(found) < POOL for found in scored.values()))


def _scored(reading: Reading, plan: _Plan, pool: Pool) -> list[tuple[float, int]]:
    scored: list[tuple[float, int]] = []
    for span in plan.spans[pool]:
        scored += reading.best(pool, plan.match, span, POOL - len(scored))
    return scored


class _Judge:
    def __init__(self, node: Node):
        self._node, self._sieve, self._split = node, Sieve(node), tokeniser()

    def hits(self, block: StoredBlock) -> Iterator[Hit]:
        """The fitting lines of a block, newest first."""
        last_at = None if block.screen is None else block.until
        for index, text in reversed(self._sieve.lines(block.text)):
            words = self._split(text)
            names = [word for _, _, word in words]
            said = (block.role, block.agent)
            if holds(self._node, Seen(names, block.pane, block.time(index), block.source, last_at or 0, *said)):
                line, where = block.line(index, text), spans(self._node, text, words)
                hit = Hit(line=line, spans=where, screen=block.screen, last_at=last_at)
                yield replace(hit, utterance=block.id, role=block.role, agent=block.agent) if block.role else hit


def _with_context(reading: Reading, hit: Hit, count: int) -> Hit:
    if hit.utterance is not None:
        before, after = reading.around_words(hit.utterance, hit.line.number, count)
    elif hit.screen is None:
        before, after = reading.around(hit.line, count)
    else:
        before, after = reading.around_row(hit.screen, hit.line.text, count)
    return replace(hit, before=before, after=after)
