"""A stored text is found by every part of it, in scripts without blanks, and the part is marked."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.output import TextBlock
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.model.terminal.search_query import SearchHit, SearchQuery
from termvisor.search import quote_phrase, search
from termvisor.store import EpochUpdate, Store
from termvisor.store.sqlite.database import get_tokenizer
from termvisor.store.sqlite.index_text import rewrite_for_index
from termvisor.testing.fake_clock import FakeClock
from termvisor.testing.memory_store import open_memory_store, run_now
from tests.fuzz.example_count import build_settings

SPLIT = get_tokenizer()
PANE = PaneInstance(ServerInstance(TargetName("local"), "/s", 1, 1), MuxPaneId("%1"))
characters = st.sampled_from("日本語中文のテキスト々〇ー한국어ภาษาไทยที่នេះជាខ្មែរພາສາລາວမြန်မာ🎉✓⚠👍🏽\ue0b0𠀀")
words = st.text(characters, min_size=1, max_size=8)
latin = st.sampled_from([" ", "error", "é", "ﬁ", "\u00ad", "１", "─", ". "])
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def store_line(text: str) -> Store:
    store = open_memory_store(FakeClock())
    pane, _ = run_now(store.panes.find_or_add(PANE, PaneFacts(mux_id=PANE.mux_id, pid=1), at=1))
    epoch = run_now(store.output.open_epoch(pane, "pipe", 1))
    block = TextBlock(epoch=epoch, start=0, end=1, at=1, until=1, lines=(text,))
    run_now(store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=(block,))]))
    return store


def find_hits(store: Store, part: str) -> tuple[SearchHit, ...]:
    return run_now(search(store, SearchQuery(text=quote_phrase(part)), 2)).hits


@build_settings(60)
@given(st.lists(latin, max_size=3), words, st.lists(latin, max_size=3), st.data())
def test_every_part_of_a_text_without_blanks_is_found_and_marked(before, word, after, data):
    first = data.draw(st.integers(0, len(word) - 1))
    part = word[first : data.draw(st.integers(first + 1, len(word)))]
    text = "".join(before) + word + "".join(after)
    marked = [hit.line.text[start:end] for hit in find_hits(store_line(text), part) for start, end in hit.spans]
    assert any(part in each for each in marked)


@given(any_text | st.lists(words | latin).map("".join))
def test_lines_are_split_into_the_words_of_the_index(text):
    indexed = SPLIT(rewrite_for_index(text).encode("utf-8", "replace").decode())
    assert [word for *_, word in SPLIT(text)] == [word for *_, word in indexed]


@given(any_text | st.lists(words | latin).map("".join))
def test_words_stand_for_whole_characters_in_order(text):
    spans = [(start, end) for start, end, _ in SPLIT(text)]
    parts = [text.encode()[start:end].decode() for start, end in spans]
    assert spans == sorted(spans)
    assert [part for part in parts if not part or part not in text] == []
