"""What ordinary words look like."""

import pytest

from termvisor.redaction.ordinary_words import has_only_plain_words, has_only_words


@pytest.mark.parametrize("text", ["word", "Word", "two-words", "snake_case", "python3", "2024-05-01", "-rw-r--r--", ""])
def test_lower_case_words_and_short_numbers_are_plain(text: str):
    assert has_only_plain_words(text)
    assert has_only_words(text)


@pytest.mark.parametrize("text", ["ERROR", "AWS_REGION", "apiVersion", "JavaScript"])
def test_shouted_and_camel_cased_words_are_wordy_but_not_plain(text: str):
    assert not has_only_plain_words(text)
    assert has_only_words(text)


@pytest.mark.parametrize("text", ["aB3dE5", "4f2a9c1e", "x9y8z7", "aBcDeF", "1234567890", "ab+cd", "q7Zk"])
def test_mixed_letters_and_digits_are_neither(text: str):
    assert not has_only_plain_words(text)
    assert not has_only_words(text)
