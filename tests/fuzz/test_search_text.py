"""Any search text: hits, or an error with a hint; never a database error."""

import asyncio
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.clock import NS, SystemClock
from termvisor.errors import BadRequest, NotFound, Unsupported
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.output import TextBlock
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.search import search
from termvisor.store import EpochUpdate, Store
from tests.fuzz.example_count import build_settings

NOW = 1_800_000_000 * NS
TEXTS = ("error a b c", "rows AND NOT NEAR(x y, 2)", "ünïcode ŉ İx 日本 ﬁ", "b" * 4000, "", 'quote " star * ^ {text}:')

words = st.sampled_from(
    ["error", "a", "AND", "OR", "NOT", "NEAR", "NEAR(a b, 3)", "rowid", "text:a", "{text} : a", "^a", "a*", "*",
     "a + b",
     "-a", "--", "(", ")", '"', '""', '"a b"*', "'", ";", "\\", "\0", "%", "_", "日本", "ﬁ", "\u0130", "\ud800",
     "\U0010ffff"]
)  # fmt: skip
names = st.sampled_from(
    ["pane", "session", "target", "since", "until", "source", "agent", "role", "event", "rule", "severity", "x"]
)
values = st.sampled_from(
    ["1", "99999999999999999999999", "-1", "1.5", "²", "", "10m", "1e400d", "9" * 400 + "d", "today", "0001-01-01", "*",
     "9999-12-31T23:59:59+00:00", "2026-02-30", "T", "1s" * 50, "stream", "screen", "%", "'; DROP TABLE block; --"]
) | st.text(max_size=4)  # fmt: skip
filters = st.builds(lambda name, value: f"{name}:{value}", names, values)
queries = st.lists(words | filters | st.text(max_size=5), max_size=10).flatmap(
    lambda parts: st.sampled_from([" ", ""]).map(lambda blank: blank.join(parts))
)
long_queries = st.builds(lambda part, count: part * count, words, st.sampled_from([20, 130, 1500]))


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def store(runner) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        opened = runner.run(Store.open(f"{folder}/visor.db", SystemClock()))
        runner.run(store_texts(opened))
        yield opened
        runner.run(opened.close())


async def store_texts(store: Store) -> None:
    server, mux_id = ServerInstance(TargetName("local"), "/s", 1, 1), MuxPaneId("%0")
    pane, _ = await store.panes.find_or_add(PaneInstance(server, mux_id), PaneFacts(mux_id=mux_id, pid=1), at=1)
    epoch = await store.output.open_epoch(pane, "pipe", 1)
    block = TextBlock(epoch=epoch, start=0, end=9, at=NOW - NS, until=NOW, lines=TEXTS)
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=9, blocks=(block,))])


@build_settings(250)
@given(queries | long_queries | st.text(max_size=30), st.sampled_from(["recency", "relevance"]), st.integers(0, 2))
@example("since:1e400d a", "recency", 0)
@example("pane:99999999999999999999999 a", "relevance", 0)
def test_any_search_text_gives_hits_or_an_error_with_a_hint(runner, store, text, rank, context):
    try:
        found = runner.run(search(store, SearchQuery(text=text, rank=rank, context=context), NOW))
    except (BadRequest, NotFound, Unsupported) as error:
        assert error.message
        assert error.hint
    else:
        assert {hit.line.text for hit in found.hits} <= set(TEXTS)
