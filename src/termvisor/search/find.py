"""Answers a Question: the index names candidate blocks, each line of them is judged on its own.

In: a Question. Out: Found. Reading and judging happen in the store's reader thread, in slices, so that a long search
holds up nobody else who reads.
"""

from collections.abc import Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.question import Found, Hit, Question
from termvisor.search.line import Seen, Sieve, holds, spans
from termvisor.search.node import And, InPanes, Named, Node, Not, Or, Within, bounds, index_query
from termvisor.search.query import parse
from termvisor.store import Store
from termvisor.store.db import tokeniser
from termvisor.store.lines import StoredBlock
from termvisor.store.reading import Reading, Span

MOST_CANDIDATES = 20_000
"""Blocks that one search looks at."""
SLICE = 256
POOL = 2000
"""Relevance is judged among this many of the newest matching blocks."""


class _Plan(Struct, frozen=True):
    node: Node
    match: str
    spans: list[Span]


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
    time = bounds(node)
    return _Plan(node, index_query(node) or "", reading.spans(time.since, time.until))


def _resolved(node: Node, reading: Reading) -> Node:
    """The same tree with numbers of panes in place of names."""
    match node:
        case Named("session", name):
            return InPanes(reading.panes_in_session(name))
        case Named(_, name):
            return InPanes(reading.panes_on_target(name))
        case Not(part):
            return Not(_resolved(part, reading))
        case And(parts):
            return And(tuple(_resolved(part, reading) for part in parts))
        case Or(parts):
            return Or(tuple(_resolved(part, reading) for part in parts))
        case _:
            return node


class _Slice(Struct, frozen=True):
    hits: list[Hit]
    looked: int
    rest: list[Span]


async def _newest(store: Store, plan: _Plan, limit: int) -> Found:
    hits: list[Hit] = []
    looked, rest = 0, plan.spans
    while rest and len(hits) < limit:
        if looked >= MOST_CANDIDATES:
            return Found(hits=tuple(hits), is_complete=False)
        part = await store.read(partial(_slice, plan=plan, todo=rest, limit=limit - len(hits)))
        hits += part.hits
        looked, rest = looked + part.looked, part.rest
    return Found(hits=tuple(hits))


def _slice(reading: Reading, plan: _Plan, todo: list[Span], limit: int) -> _Slice:
    judge = _Judge(plan.node)
    hits: list[Hit] = []
    looked = 0
    for number, (first, last) in enumerate(todo):
        for block in reading.newest(plan.match, (first, last)):
            looked += 1
            hits += judge.hits(block)
            if len(hits) >= limit or looked >= SLICE:
                return _Slice(hits[:limit], looked, [(first, block.id - 1), *todo[number + 1 :]])
    return _Slice(hits, looked, [])


async def _best(store: Store, plan: _Plan, limit: int) -> Found:
    return await store.read(lambda reading: _ranked(reading, plan, limit))


def _ranked(reading: Reading, plan: _Plan, limit: int) -> Found:
    scored: list[tuple[float, int]] = []
    for span in plan.spans:
        scored += reading.best(plan.match, span, POOL - len(scored))
    judge = _Judge(plan.node)
    hits: list[Hit] = []
    for _, number in sorted(scored, key=lambda each: (each[0], -each[1])):
        if len(hits) >= limit:
            break
        hits += sorted(judge.hits(reading.block(number)), key=lambda hit: -len(hit.spans))
    return Found(hits=tuple(hits[:limit]), is_complete=len(scored) < POOL)


class _Judge:
    def __init__(self, node: Node):
        self._node, self._sieve, self._split = node, Sieve(node), tokeniser()

    def hits(self, block: StoredBlock) -> Iterator[Hit]:
        """The fitting lines of a block, newest first."""
        for index, text in reversed(self._sieve.lines(block.text)):
            words = self._split(text)
            names = [word for _, _, word in words]
            if holds(self._node, Seen(names, block.pane, block.time(index), block.source)):
                yield Hit(line=block.line(index, text), spans=spans(self._node, text, words))


def _with_context(reading: Reading, hit: Hit, count: int) -> Hit:
    before, after = reading.around(hit.line, count)
    return replace(hit, before=before, after=after)
