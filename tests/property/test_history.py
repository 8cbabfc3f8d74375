"""Stored lines are numbered without gaps and searchable; searches return nothing else."""

import asyncio
import re
import tempfile
from collections.abc import Awaitable, Callable

from hypothesis import given
from hypothesis import strategies as st

from termvisor.clock import NS, SystemClock
from termvisor.errors import BadRequest, NotFound
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.output import TextBlock
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.search import parse_query, quote_phrase, search
from termvisor.store import EpochUpdate, Store
from termvisor.store.sqlite.database import get_tokenizer
from tests.fuzz.example_count import build_settings

NOW = 1_800_000_000 * NS
SPLIT = get_tokenizer()

texts = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=40)
prose = st.lists(
    st.sampled_from(["error", "Error_Code", "füße", "src/main.rs:12", "--force", "“quoted”", "ŉ", "İx"])
).map(" ".join)
lines = texts | prose
batches = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.lists(st.lists(lines, max_size=4), max_size=3)), max_size=3), max_size=5
)
"""Batches of steps: the pane, and its blocks of lines."""

syntax = st.lists(
    st.sampled_from(
        ['"', "(", ")", "-", "*", "AND", "OR", "NOT", "pane:", "pane:7", "since:", "1d", "a", "b c", " ", "_", "NEAR",
         "text:", "{", "}", "^", "+", "session:", "rule:x", "\0", "source:stream", "until:9999-12-31", "é", "'"]
    ),
    max_size=14,
).map("".join)  # fmt: skip


def run_with_store(work: Callable[[Store], Awaitable[None]]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                await work(store)
            finally:
                await store.close()

    asyncio.run(run())


async def store_batches(store: Store, plan: list) -> dict[int, list[str]]:
    """Store the batches and return the lines of each pane in order."""
    server = ServerInstance(TargetName("local"), "/s", 1, 1)
    panes, epochs = [], []
    for number in range(3):
        mux_id = MuxPaneId(f"%{number}")
        pane, _ = await store.panes.find_or_add(PaneInstance(server, mux_id), PaneFacts(mux_id=mux_id, pid=1), at=1)
        panes.append(pane)
        epochs.append(await store.output.open_epoch(pane, "pipe", 1))
    written: dict[int, list[str]] = {pane: [] for pane in panes}
    for committed, batch in enumerate(plan):
        steps = []
        for which, groups in batch:
            blocks = tuple(
                TextBlock(epoch=epochs[which], start=0, end=0, at=committed, until=committed, lines=tuple(group))
                for group in groups
            )
            written[panes[which]] += [line for group in groups for line in group]
            steps.append(EpochUpdate(pane=panes[which], epoch=epochs[which], committed=committed, blocks=blocks))
        await store.output.commit(steps)
    return written


@build_settings(25)
@given(batches)
def test_line_numbers_are_consecutive_within_a_pane_for_any_batching(plan):
    async def check(store: Store) -> None:
        for pane, written in (await store_batches(store, plan)).items():
            stored = await store.output.read_lines(pane, limit=10_000)
            assert [line.text for line in stored] == written
            assert [line.number for line in stored] == list(range(1, len(written) + 1))
            assert await store.output.find_last_line_number(pane) == len(written)

    run_with_store(check)


@build_settings(25)
@given(batches, st.integers(0, 100), st.integers(0, 100), st.integers(1, 30))
def test_a_window_of_lines_is_a_slice_of_all_lines(plan, after, before, limit):
    async def check(store: Store) -> None:
        for pane, written in (await store_batches(store, plan)).items():
            numbers = [number for number in range(1, len(written) + 1) if number < before]
            last = await store.output.read_lines(pane, before=before, limit=limit)
            first = await store.output.read_lines(pane, after=after, before=before, limit=limit)
            assert [line.number for line in last] == numbers[-limit:]
            assert [line.number for line in first] == [number for number in numbers if number > after][:limit]

    run_with_store(check)


@build_settings(25)
@given(batches)
def test_every_line_is_found_by_every_one_of_its_words(plan):
    async def check(store: Store) -> None:
        for pane, written in (await store_batches(store, plan)).items():
            for number, line in enumerate(written, 1):
                for word in [word for word in line.split() if SPLIT(word.replace('"', " "))]:
                    query = SearchQuery(text=quote_phrase(word), pane=pane, limit=10_000)
                    found = await search(store, query, NOW)
                    assert number in [hit.line.number for hit in found.hits]
        assert await store.check_integrity(thorough=True) == "ok"

    run_with_store(check)


@build_settings(25)
@given(batches, st.sampled_from(["error", "code", "fuße", "main", "force", "x", "12"]))
def test_every_hit_contains_the_word_and_its_spans_mark_the_word(plan, word):
    async def check(store: Store) -> None:
        await store_batches(store, plan)
        for rank in ("recency", "relevance"):
            for hit in (await search(store, SearchQuery(text=word, rank=rank, limit=10_000), NOW)).hits:
                marked = [hit.line.text[start:end] for start, end in hit.spans]
                assert marked
                assert all([name for _, _, name in SPLIT(part)] == [word] for part in marked)

    run_with_store(check)


@build_settings(25)
@given(batches)
def test_a_word_in_no_line_is_never_found(plan):
    async def check(store: Store) -> None:
        await store_batches(store, plan)
        assert (await search(store, SearchQuery(text="absentword"), NOW)).hits == ()
        assert (await search(store, SearchQuery(text='"error absentword" OR absentw*'), NOW)).hits == ()

    run_with_store(check)


@build_settings(300)
@given(st.text() | syntax)
def test_any_query_is_parsed_or_refused_with_a_message_and_hint(text):
    try:
        parse_query(text, NOW, SPLIT)
    except BadRequest as error:
        assert error.message
        assert error.hint


@build_settings(10)
@given(st.lists(st.text() | syntax, min_size=50, max_size=50))
def test_any_parsed_query_can_be_executed(texts_typed):
    async def check(store: Store) -> None:
        await store_batches(store, [[(0, [["error a b c", "x"]])]])
        for text in texts_typed:
            for rank in ("recency", "relevance"):
                try:
                    await search(store, SearchQuery(text=text, rank=rank, context=1), NOW)
                except (BadRequest, NotFound) as error:
                    assert error.hint

    run_with_store(check)


@given(st.text(st.characters(max_codepoint=127)))
def test_tokens_of_ascii_text_are_runs_of_letters_and_digits(text):
    assert [name for _, _, name in SPLIT(text)] == re.findall("[a-z0-9]+", text.lower())
