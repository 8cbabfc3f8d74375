"""Search over a million lines."""

from __future__ import annotations

import asyncio
import random
import time

from termvisor.clock import SystemClock
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.output import Block
from termvisor.model.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.model.question import Question
from termvisor.search import search
from termvisor.store import Progress, Store
from termvisor.testing.tmux import short_folder
from tests.bench.figure import Figure, percentile

WORDS = [f"word{number}" for number in range(2000)] + ["error", "warning", "ok"] * 200
QUESTIONS = [
    "error",
    "rareneedle",
    '"error ok"',
    "word17 word18",
    "error -warning",
    "wor* rareneedle",
    "warning pane:3",
]


def million(lines: int = 1_000_000) -> list[Figure]:
    with short_folder() as folder:
        return asyncio.run(_measure(folder, lines))


async def _measure(folder: str, lines: int) -> list[Figure]:
    clock = SystemClock()
    store = await Store.open(f"{folder}/v.db", clock)
    await _fill(store, lines)
    took = {
        rank: [await _ask(store, text, rank, clock) for text in QUESTIONS for _ in range(15)]
        for rank in ("recency", "relevance")
    }
    await store.close()
    return [
        Figure(f"search of {lines:,} lines by recency, p95", 1000 * percentile(took["recency"], 0.95), 30, "ms"),
        Figure("the same, median", 1000 * percentile(took["recency"], 0.5), 5, "ms"),
        Figure("search by relevance, p95", 1000 * percentile(took["relevance"], 0.95), 30, "ms"),
    ]


async def _ask(store: Store, text: str, rank, clock: SystemClock) -> float:
    began = time.perf_counter()
    await search(store, Question(text=text, rank=rank), clock.now())
    return time.perf_counter() - began


async def _fill(store: Store, lines: int) -> None:
    chance = random.Random(7)
    server = ServerInstance(TargetName("local"), "/x", 1, 1)
    epochs = []
    for number in range(20):
        facts = PaneFacts(mux_id=MuxPaneId(f"%{number}"), pid=1)
        pane, _ = await store.panes.recognise(PaneInstance(server, facts.mux_id), facts, 1)
        epochs.append((pane, await store.output.open_epoch(pane, "pipe", 1)))
    for turn in range(lines // 32 // 100):
        batch = []
        for part in range(100):
            pane, epoch = epochs[(turn + part) % 20]
            texts = tuple(
                " ".join(chance.choices(WORDS, k=9)) + (" rareneedle" if chance.random() < 2e-5 else "")
                for _ in range(32)
            )
            at = turn * 10**9
            block = Block(epoch=epoch, start=0, end=0, at=at, until=at, lines=texts)
            batch.append(
                Progress(pane=pane, epoch=epoch, committed=turn * 100 + part, carry=b"", blocks=(block,), marks=())
            )
        await store.output.commit(batch)
