"""Law of loose patterns: whatever a rule finds, the engines find too."""

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
def test_whatever_a_pattern_finds_its_loose_form_finds_too(pattern: str, text: str) -> None:
    found, loose = (re.search(one, text, re.MULTILINE | re.ASCII) for one in (pattern, relax_pattern(pattern)))
    assert loose or not found
