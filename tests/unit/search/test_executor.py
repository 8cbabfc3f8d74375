"""Search in stored lines and screen rows."""

import pytest

from termvisor.clock import NS
from termvisor.errors import BadRequest, NotFound
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Line, TextBlock
from termvisor.model.terminal.search_query import SearchQuery, SearchResult
from termvisor.search import executor, search
from termvisor.store import EpochUpdate

NOW = 1_000_000 * NS


@pytest.fixture
def search_texts(store):
    async def texts(text, **options) -> list[str]:
        found = await search(store, SearchQuery(text=text, **options), NOW)
        return [hit.line.text for hit in found.hits]

    return texts


@pytest.fixture
async def pane(new_pane, write_lines):
    pane = await new_pane("%1", session_name="work")
    await write_lines(pane, "cargo build", "error: usage_limit reached", "see src/main.rs:12", at=NOW - 60 * NS)
    await write_lines(pane, "all tests passed", "no error here", at=NOW - 30 * NS)
    return pane


async def test_the_newest_lines_come_first_with_number_time_and_spans(store, pane):
    found = await search(store, SearchQuery(text="error"), NOW)
    assert [(hit.line.number, hit.line.text) for hit in found.hits] == [
        (5, "no error here"),
        (2, "error: usage_limit reached"),
    ]
    assert [hit.spans for hit in found.hits] == [((3, 8),), ((0, 5),)]
    assert found.hits[0].line.at == NOW - 30 * NS
    assert found.is_complete


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("limit", ["error: usage_limit reached"]),
        ("usage_limit", ["error: usage_limit reached"]),
        ('"src main rs"', ["see src/main.rs:12"]),
        ("main.rs:12", ["see src/main.rs:12"]),
        ("pass*", ["all tests passed"]),
        ("error -limit", ["no error here"]),
        ("cargo OR tests", ["all tests passed", "cargo build"]),
        ("(cargo OR tests) -passed", ["cargo build"]),
        ("cargo error", []),
        ("error here", ["no error here"]),
        ('"reached see"', []),
        ("absent", []),
    ],
)
async def test_a_query_is_matched_line_by_line(search_texts, pane, query, lines):
    assert await search_texts(query) == lines
    assert sorted(await search_texts(query, rank="relevance")) == sorted(lines)


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("本語", "本語"),
        ("テキ", "テキ"),
        ("한국", "한국"),
        ("ภาษา", "ภาษา"),
        ("ភាសា", "ភាសា"),
        ("ພາສາ", "ພາສາ"),
        ("file", "ﬁle"),
        ("software", "soft\u00adware"),
        ("🎉", "🎉"),
        ("main", "main"),
    ],
)
async def test_parts_of_words_are_found_and_marked_in_every_script(store, new_pane, write_lines, query, marked):
    lines = (
        "日本語のテキスト",
        "한국어",
        "นี่คือภาษาไทย",
        "នេះជាភាសាខ្មែរ",
        "ນີ້ແມ່ນພາສາລາວ",
        "a ﬁle",
        "soft\u00adware",
        "x🎉y",
        "\ue0a0main\ue0b0",
    )
    await write_lines(await new_pane(), *lines, at=NOW)
    found = await search(store, SearchQuery(text=query), NOW)
    assert [hit.line.text[start:end] for hit in found.hits for start, end in hit.spans] == [marked]


async def test_filters_narrow_by_pane_session_target_and_source(search_texts, pane, new_pane, write_lines):
    other = await new_pane("%2", session_name="play time")
    await write_lines(other, "their error", at=NOW)
    assert await search_texts(f"error pane:{other}") == ["their error"]
    assert await search_texts("error", pane=other) == ["their error"]
    assert await search_texts('error session:"play time"') == ["their error"]
    assert await search_texts("error -session:work") == ["their error"]
    assert await search_texts(f"error (pane:{pane} OR pane:{other})", limit=1) == ["their error"]
    assert len(await search_texts("error target:local")) == 3
    assert len(await search_texts("error source:stream")) == 3
    assert await search_texts("error source:screen") == []


@pytest.mark.parametrize("query", ["error pane:999", f"error pane:{10**30}", "error -pane:999"])
async def test_a_filter_for_a_missing_pane_is_an_error(search_texts, pane, query):
    with pytest.raises(NotFound, match=r"pane (999|10+) not found"):
        await search_texts(query)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("error session:wrok", "Did you mean session:work?"),
        ("error -session:wrok", "Did you mean session:work?"),
        ("error (target:loca OR cargo)", "Did you mean target:local?"),
        ("error agent:claude", "Did you mean agent:claude_code?"),
        ("rule:codex.usage.reachd", "Did you mean rule:codex.usage.reached?"),
        ("event:usage.reach", "Did you mean event:usage.reached?"),
        ("event:nothing.*", "Known: usage.reached."),
    ],
)
async def test_an_unknown_name_in_a_filter_is_an_error_with_the_nearest_one(store, pane, query, hint):
    known = {"agent": ("claude_code", "codex"), "rule": ("codex.usage.reached",), "event": ("usage.reached",)}
    with pytest.raises(BadRequest, match="unknown") as raised:
        await search(store, SearchQuery(text=query, known_names=known), NOW)
    assert raised.value.hint == hint


async def test_a_name_that_nothing_stored_has_yet_finds_no_lines(store, pane):
    known = {"agent": ("codex",), "event": ("usage.reached",)}
    for text in ("error agent:codex", "event:usage.*", "error -agent:codex -error"):
        assert (await search(store, SearchQuery(text=text, known_names=known), NOW)).hits == ()


@pytest.mark.parametrize("rank", ["recency", "relevance"])
async def test_a_search_that_was_cut_at_its_limit_is_not_complete(store, pane, rank):
    for limit, is_complete in ((1, False), (2, True), (3, True)):
        found = await search(store, SearchQuery(text="error", limit=limit, rank=rank), NOW)
        assert (len(found.hits), found.is_complete) == (min(limit, 2), is_complete)


@pytest.mark.parametrize(
    ("query", "fields", "lines"),
    [
        ("error since:45s", {}, ["no error here"]),
        ("error until:45s", {}, ["error: usage_limit reached"]),
        ("error since:2m until:45s", {}, ["error: usage_limit reached"]),
        ("error", {"since": NOW - 30 * NS}, ["no error here"]),
        ("error", {"until": NOW - 60 * NS}, ["error: usage_limit reached"]),
        ("error since:45s", {"until": NOW - 60 * NS}, []),
        ("error -since:45s", {}, ["error: usage_limit reached"]),
    ],
)
async def test_time_filters_of_the_query_and_of_the_options_apply(search_texts, pane, query, fields, lines):
    assert await search_texts(query, **fields) == lines
    assert await search_texts(query, rank="relevance", **fields) == lines


async def test_context_crosses_blocks_but_not_panes(store, pane, new_pane, write_lines):
    await write_lines(await new_pane("%2"), "noise")
    await write_lines(pane, "the end")
    (hit,) = (await search(store, SearchQuery(text="tests", context=2), NOW)).hits
    assert hit.before == ("error: usage_limit reached", "see src/main.rs:12")
    assert hit.after == ("no error here", "the end")


async def test_at_most_limit_lines_are_returned(search_texts, new_pane, write_lines):
    await write_lines(await new_pane(), *(f"error {number}" for number in range(30)))
    assert await search_texts("error", limit=3) == ["error 29", "error 28", "error 27"]
    assert len(await search_texts("error")) == 20
    assert await search_texts("error", limit=0) == []


async def test_relevance_ranks_the_block_with_most_matches_first(search_texts, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, "error error error")
    await write_lines(pane, "a line that speaks of many things and of one error", *["other words"] * 20)
    assert await search_texts("error", rank="relevance", limit=1) == ["error error error"]


async def write_blocks(store, pane, count):
    epoch = await store.output.open_epoch(pane, "pipe", 1)
    blocks = tuple(
        TextBlock(epoch=epoch, start=0, end=0, at=number, until=number, lines=(f"alpha {number}", "beta"))
        for number in range(count)
    )
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=blocks)])


async def test_a_search_continues_over_slices(search_texts, store, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, "alpha beta")
    await write_blocks(store, pane, 3 * executor.SLICE_CANDIDATES)
    assert await search_texts('"alpha beta" OR (alpha beta)') == ["alpha beta"]
    assert len(await search_texts("beta", limit=10_000)) == 3 * executor.SLICE_CANDIDATES + 1


async def test_a_search_beyond_its_limit_is_marked_incomplete(store, new_pane, write_lines, monkeypatch):
    monkeypatch.setattr(executor, "MAX_CANDIDATES", 2 * executor.SLICE_CANDIDATES)
    pane = await new_pane()
    await write_lines(pane, "alpha beta")
    await write_blocks(store, pane, 3 * executor.SLICE_CANDIDATES)
    assert await search(store, SearchQuery(text="alpha beta"), NOW) == SearchResult(hits=(), is_complete=False)


async def test_relevance_with_more_candidates_than_the_pool_is_incomplete(store, new_pane, monkeypatch):
    monkeypatch.setattr(executor, "MAX_RANKED", 10)
    await write_blocks(store, await new_pane(), 11)
    found = await search(store, SearchQuery(text="alpha", rank="relevance", limit=100), NOW)
    assert len(found.hits) == 10
    assert not found.is_complete


@pytest.mark.parametrize(("query", "error"), [("", BadRequest), ("(a", BadRequest), ("a severity:x", BadRequest)])
async def test_unsupported_conditions_are_refused(search_texts, query, error):
    with pytest.raises(error):
        await search_texts(query)


async def test_the_deepest_and_widest_query_that_parses_can_be_executed(search_texts, pane, new_pane):
    for number in range(2, 302):
        await new_pane(f"%{number}", session_name="crowd")
    assert await search_texts(" OR ".join(["error"] * 128), limit=1) == ["no error here"]
    nested = "error"
    for _ in range(12):
        nested = f"(a OR b {nested})"
    assert await search_texts(f"error OR {nested}", limit=1) == ["no error here"]
    assert await search_texts("error (session:crowd OR session:work)", limit=1) == ["no error here"]


@pytest.fixture
async def agent(new_pane, show_rows):
    """A pane that repaints: an error 45 s ago that is still shown 10 s ago, and another row since then."""
    pane = await new_pane("%7", session_name="agents")
    await show_rows(pane, "╭─ agent ─╮", "error: no such file", "status 1", at=NOW - 45 * NS)
    await show_rows(pane, "╭─ agent ─╮", "error: no such file", "all done", "status 9", at=NOW - 10 * NS)
    return pane


async def test_lines_and_screen_rows_are_found_together_in_time_order(store, pane, agent):
    found = await search(store, SearchQuery(text="error"), NOW)
    assert [(hit.line.text, hit.line.source, hit.screen) for hit in found.hits] == [
        ("no error here", "stream", None),
        ("error: no such file", "screen", 1),
        ("error: usage_limit reached", "stream", None),
    ]
    row = found.hits[1]
    assert (row.line.pane, row.line.at, row.last_at) == (agent, NOW - 45 * NS, NOW - 10 * NS)
    assert row.spans == ((0, 5),)


async def test_the_limit_applies_to_lines_and_rows_together(search_texts, pane, agent):
    assert await search_texts("error", limit=2) == ["no error here", "error: no such file"]


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("error source:screen", ["error: no such file"]),
        ("error source:stream", ["no error here", "error: usage_limit reached"]),
        ("error -source:stream", ["error: no such file"]),
        ("error -source:screen", ["no error here", "error: usage_limit reached"]),
        ("(error source:screen) OR cargo", ["error: no such file", "cargo build"]),
        ("error source:transcript", []),
        ("error since:20s", ["error: no such file"]),
        ("error until:40s source:screen", ["error: no such file"]),
        ("done until:40s", []),
        ("error session:agents", ["error: no such file"]),
        ("error pane:1", ["no error here", "error: usage_limit reached"]),
        ('"no such"', ["error: no such file"]),
        ("fil*", ["error: no such file"]),
        ("error -file -limit", ["no error here"]),
    ],
)
async def test_a_query_is_matched_row_by_row(search_texts, pane, agent, query, lines):
    assert await search_texts(query) == lines
    assert sorted(await search_texts(query, rank="relevance")) == sorted(lines)


async def test_the_baseline_of_an_epoch_is_screen_text(store, search_texts, new_pane):
    pane = await new_pane("%3")
    epoch = await store.output.open_epoch(pane, "pipe", NOW)
    blocks = (
        TextBlock(epoch=epoch, start=0, end=0, at=NOW, until=NOW, lines=("baseline apple",), source="screen"),
        TextBlock(epoch=epoch, start=0, end=0, at=NOW, until=NOW, lines=("printed apple",)),
    )
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=blocks)])
    assert await search_texts("apple source:screen") == ["baseline apple"]
    assert await search_texts("apple") == ["printed apple", "baseline apple"]


async def test_the_context_of_a_row_is_its_screen(store, agent):
    (hit,) = (await search(store, SearchQuery(text="error", context=1), NOW)).hits
    assert (hit.before, hit.after) == (("╭─ agent ─╮",), ("status 1",))


async def test_a_rebuilt_index_finds_screen_rows(store, search_texts, agent):
    await store.sightings._db.write(
        lambda connection: connection.execute(
            "INSERT INTO sighting_fts (sighting_fts) VALUES ('delete-all')"
        ).fetchall()
    )
    assert await search_texts("error") == []
    assert [table async for table in store.maintenance.rebuild_indexes()] == ["block", "sighting", "utterance"]
    assert await search_texts("error") == ["error: no such file"]


def build_detection(pane, text: str, **more) -> Detection:
    known = {"at": NOW, "type": "usage.reached", "rule": "codex.usage.reached", "source": "stream", "severity": "error"}
    return Detection(pane=pane, context=f"cargo build\n{text}", **(known | more))


async def test_lines_are_found_by_the_events_in_them(store, search_texts, pane, new_pane, write_lines):
    other = await new_pane("%2")
    await write_lines(other, "error: usage_limit reached", at=NOW)
    await store.detections.add(
        [
            build_detection(pane, "error: usage_limit reached"),
            build_detection(pane, "all tests passed", type="tests.passed", rule="shell.tests", severity="info"),
            build_detection(pane, "", type="usage.warning"),
            build_detection(pane, "***", type="usage.odd"),
        ]
    )
    limit = ["error: usage_limit reached"]
    assert await search_texts("event:usage.reached") == limit
    assert await search_texts("event:usage.*", rank="relevance") == limit
    assert await search_texts("rule:codex.* usage_limit") == limit
    assert await search_texts("event:usage.reached cargo") == []
    assert await search_texts("severity:warning") == limit
    assert await search_texts("severity:info") == ["all tests passed", *limit]
    assert await search_texts("severity:info -event:usage.*") == ["all tests passed"]
    assert await search_texts("event:usage.warning") == []
    assert await search_texts("event:usage.warning OR passed") == ["all tests passed"]
    assert await search_texts(f"event:usage.reached pane:{other}") == []


class Window:
    """Lines on the screen of one pane."""

    def __init__(self, pane, *texts: str, first: int = 6):
        self._lines = [
            Line(pane=pane, number=number, at=NOW - NS, text=text, epoch=EpochId(1), is_provisional=True)
            for number, text in enumerate(texts, first)
        ]

    def find_unstored(self, can_match):
        return [self._lines] if can_match("\n".join(line.text for line in self._lines)) else []


async def find_lines(store, query: SearchQuery, window: Window) -> list[tuple[int, str]]:
    found = await search(store, query, NOW, window)
    return [(hit.line.number, hit.line.text) for hit in found.hits]


async def test_lines_that_are_still_on_the_screen_are_found_too(store, pane):
    window = Window(pane, "a new error", "nothing")
    assert await find_lines(store, SearchQuery(text="error"), window) == [
        (6, "a new error"),
        (5, "no error here"),
        (2, "error: usage_limit reached"),
    ]
    assert await find_lines(store, SearchQuery(text="error", limit=1), window) == [(6, "a new error")]
    assert await find_lines(store, SearchQuery(text="error new"), window) == [(6, "a new error")]
    assert await find_lines(store, SearchQuery(text="error since:10s"), window) == [(6, "a new error")]
    assert await find_lines(store, SearchQuery(text="error source:screen"), window) == []
    assert await find_lines(store, SearchQuery(text=f"error -pane:{pane}"), window) == []


async def test_lines_on_the_screen_come_first_when_ranked_by_relevance(store, pane):
    found = await find_lines(store, SearchQuery(text="error", rank="relevance"), Window(pane, "error"))
    assert found[0] == (6, "error")


async def test_a_line_that_was_stored_during_the_search_is_found_once(store, pane):
    window = Window(pane, "no error here", "another error", first=5)
    assert await find_lines(store, SearchQuery(text="error"), window) == [
        (6, "another error"),
        (5, "no error here"),
        (2, "error: usage_limit reached"),
    ]


async def test_context_spans_stored_lines_and_those_on_the_screen(store, pane):
    found = await search(store, SearchQuery(text="fresh", context=2), NOW, Window(pane, "fresh", "after"))
    assert [(hit.before, hit.after) for hit in found.hits] == [(("all tests passed", "no error here"), ("after",))]
    found = await search(store, SearchQuery(text="here", context=2), NOW, Window(pane, "here again", "after"))
    assert found.hits[1].after == ("here again", "after")
