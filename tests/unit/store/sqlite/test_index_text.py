"""Rewrite text for the search index, and trace words back to the original."""

import hashlib

import pytest

from termvisor.store.sqlite.database import get_tokenizer
from termvisor.store.sqlite.index_text import is_rewritten, rewrite_for_index


def find_words(text: str) -> list[tuple[str, str]]:
    """Return each word of the index with the part of the text that it stands for."""
    data = text.encode()
    return [(data[start:end].decode(), word) for start, end, word in get_tokenizer()(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("日本語のtext", ["日", "本", "語", "の", "text"]),
        ("한국어", ["한", "국", "어"]),
        ("ที่นี่", ["ท", "ี", "่", "น", "ี", "่"]),
        ("ភាសា", ["ភ", "ា", "ស", "ា"]),
        ("ສະບາຍ", ["ສ", "ະ", "ບ", "າ", "ຍ"]),
        ("done🎉 ⚠️ok", ["done", "🎉", "⚠", "ok"]),
        ("\ue0b0main\ue0a0", ["\ue0b0", "main", "\ue0a0"]),
        ("a\U000f0001b", ["a", "\U000f0001", "b"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
        ("é中x", ["é", "中", "x"]),
    ],
)
def test_characters_of_scripts_without_blanks_and_symbols_are_words(text, parts):
    assert [part for part, _ in find_words(text)] == parts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ﬁle eﬃcient ﬆ", [("ﬁle", "file"), ("eﬃcient", "efficient"), ("ﬆ", "st")]),
        ("soft\u00adware\u00ad, x", [("soft\u00adware", "software"), ("x", "x")]),
        ("ＡＢＣ１：x", [("ＡＢＣ１", "abc1"), ("x", "x")]),
        ("か\u3099", [("か\u3099", "が")]),
        ("ｶﾞｲﾄﾞ", [("ｶﾞ", "ガ"), ("ｲ", "イ"), ("ﾄﾞ", "ド")]),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", [("\u1112\u1161\u11ab", "한"), ("\u1100\u116e\u11a8", "국")]),
    ],
)
def test_other_spellings_are_folded(text, words):
    assert find_words(text) == words


@pytest.mark.parametrize("text", ["", "plain", "Café ─│╭ ● … “x” → привет", "\ud800"])
def test_other_text_is_indexed_as_it_is(text):
    assert not is_rewritten(text)
    assert rewrite_for_index(text) == text


def test_the_rewritten_form_never_changes():
    """Stored indexes depend on it: another form needs a migration that rebuilds them, and then a new digest here."""
    codes = [*range(0xD800), *range(0xE000, 0x20000), *range(0x20000, 0x110000, 0xFFF)]
    every = "\n".join(map(chr, codes))
    composed = "日本語 か\u3099は\u309aあ\u3099ｶﾞ\u1112\u1161\u11ab\u1112\u1161 ที่🎉"
    digest = hashlib.sha256((rewrite_for_index(every) + rewrite_for_index(composed)).encode()).hexdigest()
    assert digest == "6f8256835f022bae0c0d1c27a436a634fd142df84307ce0a107fad3fff1a2790"
