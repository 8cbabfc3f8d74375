"""RE2: what differs from Hyperscan."""

import pytest

from termvisor.regex.re2_engine import Re2Matcher


def test_an_unsupported_pattern_is_a_value_error():
    with pytest.raises(ValueError, match="failed to add"):
        Re2Matcher({"a": "x(?=y)"})


def test_a_large_set_does_not_run_out_of_memory_and_miss():
    patterns = {f"p{number}": rf"key{number}[a-z]{{1,40}}[0-9]{{1,40}}x.{{0,40}}y" for number in range(200)}
    text = b" ".join(f"key{number}abc123x--y".encode() for number in range(200))
    assert len(Re2Matcher(patterns).find_ids(text)) == 200
