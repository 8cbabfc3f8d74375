"""Patterns derived from a prefix, a charset and a length."""

import re

from termvisor.redaction.secret_kind import SecretKind
from termvisor.regex import compile_patterns

FIXED = SecretKind(id="fixed", doc="", prefixes=("ab_", "abc_"), charset="0-9a-f", min_length=8, max_length=8)
OPEN = SecretKind(id="open", doc="", prefixes=("x-",), charset="A-Za-z0-9-", min_length=8)


def test_a_kind_has_a_fixed_or_open_length():
    assert FIXED.regex.search("abc_12345678 ")["secret"] == "12345678"
    assert FIXED.regex.search("abc_123456789") is None
    assert OPEN.regex.search("(x-1234567890)")["secret"] == "1234567890"


def test_a_prefix_within_a_word_does_not_match():
    assert OPEN.regex.search("max-1234567890") is None


def test_the_engine_matches_secrets_cut_by_the_row_end():
    matcher = compile_patterns({"fixed": FIXED.build_engine_pattern()})
    rows = ["ab_12345678 x", "ab_123", "ab_123 │", "ab_", "(ab", "ab_123 x", "cab_"]
    assert [number for number, _ in matcher.find_line_ids("\n".join(rows).encode())] == [0, 1, 2, 3, 4]


def test_words_are_not_accepted_as_secrets():
    assert not OPEN.is_secret(OPEN.regex.search("x-ordinary-words"))
    assert OPEN.is_secret(OPEN.regex.search("x-9f8e7d6c5b"))


def test_a_charset_is_expanded():
    assert sorted(FIXED.characters) == sorted(re.findall("[0-9a-f]", "0123456789abcdefg"))
