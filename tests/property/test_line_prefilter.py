"""LinePrefilter drops lines before they are split into words, but never one that matches."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.search.parser import parse_query
from termvisor.search.query_tree import LinePrefilter, SearchableLine, is_match
from termvisor.store.sqlite.database import get_tokenizer

SPLIT = get_tokenizer()
WORDS = st.sampled_from(["error", "err", "Ok", "o"])
GAPS = st.sampled_from([" ", "_", "-", ""])
LINES = st.lists(st.tuples(WORDS, GAPS).map("".join), min_size=2, max_size=6).map("".join)
FOREIGN = st.sampled_from([[], ["● Ok"], ["İstanbul ok"], ["café"]])
TERMS = st.tuples(st.sampled_from(["", "", "-"]), WORDS, st.sampled_from(["", "*"])).map("".join)
QUERIES = st.one_of(
    st.lists(TERMS, min_size=1, max_size=3).map(" ".join),
    st.lists(WORDS, min_size=1, max_size=3).map(lambda words: '"' + " ".join(words) + '"'),
    st.lists(TERMS, min_size=2, max_size=3).map(" OR o* ".join),
)


@given(QUERIES, st.lists(LINES, min_size=1, max_size=8), FOREIGN)
def test_the_prefilter_keeps_every_matching_line(query, lines, foreign):
    node = parse_query(f"o* {query}", 0, SPLIT)
    matching = [
        (index, text)
        for index, text in enumerate(lines + foreign)
        if is_match(node, SearchableLine([word for _, _, word in SPLIT(text)], 1, 1, "stream"))
    ]
    kept = LinePrefilter(node).select_lines("\n".join(lines + foreign))
    assert [line for line in matching if line not in kept] == []
