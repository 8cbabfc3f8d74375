"""Measure searches over a million lines and a hundred thousand screen rows."""

from __future__ import annotations

import asyncio
import random
import time
from itertools import accumulate

from termvisor.clock import SystemClock
from termvisor.model.ids import EpochId, MuxPaneId, TargetName
from termvisor.model.terminal.output import TextBlock
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.model.terminal.screen import CapturedScreen, Screen, ScreenRow
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.search import search
from termvisor.store import EpochUpdate, Store
from termvisor.testing.private_tmux import make_short_folder
from tests.bench.figure import BudgetedFigure, compute_percentile

WORDS = [f"word{number}" for number in range(20_000)]
WORD_WEIGHTS = list(accumulate(1 / (rank + 5) for rank in range(len(WORDS))))
"""Zipf's law: the second word occurs about half as often as the first, as in natural language."""
MARKER_WORDS = (("error", 0.03), ("warning", 0.05), ("ok", 0.1), ("rareneedle", 2e-5))
QUERIES = [
    "error",
    "rareneedle",
    '"error ok"',
    "error -warning",
    "rareneed*",
    "warning pane:3",
    "word900 since:2h",
    "error source:screen",
]

TWO_WORD_QUERY = "error word40"
"""Both words on one line: the index stores blocks of lines, so most candidates are checked and dropped."""


def measure_search(lines: int = 1_000_000) -> list[BudgetedFigure]:
    with make_short_folder() as folder:
        return asyncio.run(_measure_search(folder, lines))


async def _measure_search(folder: str, lines: int) -> list[BudgetedFigure]:
    clock = SystemClock()
    store = await Store.open(f"{folder}/v.db", clock)
    await fill_lines(store, lines)
    await fill_sightings(store, lines // 10)
    recency = [await time_search(store, text, "recency", clock) for text in QUERIES for _ in range(15)]
    relevance = [await time_search(store, text, "relevance", clock) for text in QUERIES for _ in range(15)]
    pair = [await time_search(store, TWO_WORD_QUERY, "recency", clock) for _ in range(40)]
    await store.close()
    return [
        BudgetedFigure(f"search of {lines:,} lines by recency, p95", 1000 * compute_percentile(recency, 0.95), 5, "ms"),
        BudgetedFigure("the same by relevance, p95", 1000 * compute_percentile(relevance, 0.95), 30, "ms"),
        BudgetedFigure("two words on one line by recency, p95", 1000 * compute_percentile(pair, 0.95), 30, "ms"),
    ]


async def time_search(store: Store, text: str, rank, clock: SystemClock) -> float:
    began = time.perf_counter()
    await search(store, SearchQuery(text=text, rank=rank), clock.now())
    return time.perf_counter() - began


async def fill_lines(store: Store, lines: int) -> None:
    chance = random.Random(7)
    server = ServerInstance(TargetName("local"), "/x", 1, 1)
    epochs = []
    for number in range(20):
        facts = PaneFacts(mux_id=MuxPaneId(f"%{number}"), pid=1)
        pane, _ = await store.panes.find_or_add(PaneInstance(server, facts.mux_id), facts, 1)
        epochs.append((pane, await store.output.open_epoch(pane, "pipe", 1)))
    for turn in range(lines // 32 // 100):
        batch = []
        for part in range(100):
            pane, epoch = epochs[(turn + part) % 20]
            texts = tuple(_build_line(chance) for _ in range(32))
            at = turn * 10**9
            block = TextBlock(epoch=epoch, start=0, end=0, at=at, until=at, lines=texts)
            batch.append(
                EpochUpdate(pane=pane, epoch=epoch, committed=turn * 100 + part, carry=b"", blocks=(block,), marks=())
            )
        await store.output.commit(batch)


async def fill_sightings(store: Store, rows: int) -> None:
    """Store screen rows beside the lines: every search covers both."""
    chance = random.Random(8)
    panes = [pane.id for pane in await store.panes.list_panes()]
    for turn in range(rows // 1000):
        glances = []
        for part in range(20):
            at = turn * 300 * 10**9
            screen = Screen(pane=panes[part], rows=(), width=120, height=50, alternate=True, at=at)
            shown = tuple(ScreenRow(_build_line(chance), turn * 1000 + part * 50 + number + 1) for number in range(50))
            glances.append(CapturedScreen(EpochId(part + 1), screen, shown))
        await store.sightings.add(glances)


def _build_line(chance: random.Random) -> str:
    signs = [sign for sign, often in MARKER_WORDS if chance.random() < often]
    return " ".join(signs + chance.choices(WORDS, cum_weights=WORD_WEIGHTS, k=9))
