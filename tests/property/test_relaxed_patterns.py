"""Relaxed patterns, which the engines scan for, match wherever the rule's pattern matches."""

import re

from hypothesis import given
from hypothesis import strategies as st

from termvisor.regex.relax import relax_pattern

atoms = st.sampled_from(["abcd", "bcda", "^", "$", r"\n", ".*", ".+?", r"[^\n]*", r"\w+", "a?", ": ", r"\bab", "[ab]"])
patterns = st.recursive(
    st.lists(atoms, min_size=1, max_size=5).map("".join),
    lambda inner: st.builds(
        "{}(?:{}|{}){}{}".format, inner, inner, inner, st.sampled_from(["", "", "?", "{0,2}"]), inner
    ),
    max_leaves=6,
)
texts = st.lists(st.sampled_from(["abcd", "bcda", "a", "b", ": ", "\n", "x"]), max_size=12).map("".join)


@given(patterns, texts)
def test_a_relaxed_pattern_finds_whatever_the_pattern_finds(pattern: str, text: str) -> None:
    found, relaxed = (re.search(one, text, re.MULTILINE | re.ASCII) for one in (pattern, relax_pattern(pattern)))
    assert relaxed or not found
